package io.journalq.sim.cluster;

/**
 * A partition of a simulated cluster.
 *
 * @param consistent whether its delivery mode is {@code consistent}; otherwise it is {@code eventual}
 * @param replicated whether it has several replicas; then its delivery mode is {@code eventual}
 */
public record ClusterPartition(String topic, int number, boolean consistent, boolean replicated) {
    @Override
    public String toString() {
        return topic + "-" + number + (replicated ? " (replicated)" : consistent ? " (consistent)" : " (eventual)");
    }
}
