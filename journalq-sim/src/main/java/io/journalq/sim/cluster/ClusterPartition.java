package io.journalq.sim.cluster;

/**
 * A partition of a simulated cluster.
 *
 * @param consistent whether its delivery mode is {@code consistent}; otherwise it is {@code eventual}
 */
public record ClusterPartition(String topic, int number, boolean consistent) {
    @Override
    public String toString() {
        return topic + "-" + number + (consistent ? " (consistent)" : " (eventual)");
    }
}
