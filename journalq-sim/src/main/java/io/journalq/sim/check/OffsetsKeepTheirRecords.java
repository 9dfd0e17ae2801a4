package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * An offset keeps its record and the leader epoch of that record. After a loss that the delivery mode allows, it gets
 * another record only in a newer leader epoch, because each start of the leader begins one.
 */
public final class OffsetsKeepTheirRecords {
    private static final String INVARIANT = "OffsetsKeepTheirRecords";

    private final Violations violations;
    private final Map<ClusterPartition, TreeMap<Long, Seen>> partitions = new HashMap<>();

    /** A record that a client has read. */
    private record Seen(int epoch, String id) {}

    public OffsetsKeepTheirRecords(Violations violations) {
        this.violations = violations;
    }

    /** A broker returns a record of a leader epoch. */
    public void onRead(ClusterPartition partition, long offset, int epoch, String id) {
        Seen now = new Seen(epoch, id);
        Seen before =
                partitions.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, now);
        if (before != null && !before.equals(now) && (before.id().equals(id) || epoch <= before.epoch())) {
            violations.report(INVARIANT, partition + " offset " + offset + " held " + before + ", now " + now);
        }
    }
}
