package io.journalq.sim.cluster;

import io.journalq.server.shard.append.DeliveryMode;

/**
 * A partition of a simulated cluster.
 *
 * @param mode its delivery mode
 * @param replicated whether it has several replicas
 * @param byAll whether its producer waits for all in-sync replicas
 */
public record ClusterPartition(String topic, int number, DeliveryMode mode, boolean replicated, boolean byAll) {
    /** Whether acknowledged records are on the disk. */
    public boolean isConsistent() {
        return mode == DeliveryMode.CONSISTENT;
    }

    /** Whether the leader may acknowledge records that only it has. */
    public boolean isAcknowledgedAlone() {
        return mode == DeliveryMode.PERFORMANCE || (mode == DeliveryMode.EVENTUAL && !byAll);
    }

    @Override
    public String toString() {
        return topic + "-" + number + " (" + mode + (replicated ? ", replicated" : "") + (byAll ? ", acks=all)" : ")");
    }
}
