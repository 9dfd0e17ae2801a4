package io.journalq.sim.cluster;

import io.journalq.common.record.Header;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.sim.workload.LogReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A partition of a simulated cluster. The value of a record is its id.
 *
 * @param mode its delivery mode
 * @param replicated whether it has several replicas
 * @param byAll whether its producer waits for all in-sync replicas
 */
public record ClusterPartition(String topic, int partition, DeliveryMode mode, boolean replicated, boolean byAll)
        implements LogReader.Source {
    /** Whether acknowledged records are on the disk. */
    public boolean isConsistent() {
        return mode == DeliveryMode.CONSISTENT;
    }

    /** Whether the leader may acknowledge records that only it has. */
    public boolean isAcknowledgedAlone() {
        return mode == DeliveryMode.PERFORMANCE || (mode == DeliveryMode.EVENTUAL && !byAll);
    }

    @Override
    public String idOf(byte[] key, byte[] value, List<Header> headers, long timestampMs) {
        return new String(value, StandardCharsets.US_ASCII);
    }

    /** The topic and the number. */
    public String name() {
        return topic + "-" + partition;
    }

    @Override
    public String toString() {
        return name() + " (" + mode + (replicated ? ", replicated" : "") + (byAll ? ", acks=all)" : ")");
    }
}
