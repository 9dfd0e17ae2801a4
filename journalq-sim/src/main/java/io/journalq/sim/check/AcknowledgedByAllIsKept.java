package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a replicated partition has acknowledged with acks=all, while at least two replicas were in sync, is never lost
 * when brokers are killed. An offset keeps its record under each leader.
 */
public final class AcknowledgedByAllIsKept {
    private static final String INVARIANT = "AcknowledgedByAllIsKept";

    private final Violations violations;
    private final Map<ClusterPartition, TreeMap<Long, String>> acknowledged = new HashMap<>();
    private final Map<ClusterPartition, TreeMap<Long, String>> read = new HashMap<>();
    private long records;

    public AcknowledgedByAllIsKept(Violations violations) {
        this.violations = violations;
    }

    /** Number of acknowledgements and reads. */
    public long records() {
        return records;
    }

    /** A leader acknowledges a record. */
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id) {
        records++;
        String before =
                acknowledged.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
        if (before != null && !before.equals(id)) {
            violations.report(
                    INVARIANT,
                    partition + " offset " + offset + " holds " + before + ", and broker " + leader + " acknowledges "
                            + id + " there");
        }
    }

    /** A leader returns a record. */
    public void onRead(ClusterPartition partition, long offset, String id) {
        records++;
        read.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
        String expected = acknowledged.getOrDefault(partition, new TreeMap<>()).get(offset);
        if (expected != null && !expected.equals(id)) {
            violations.report(INVARIANT, partition + " offset " + offset + " holds " + id + " instead of " + expected);
        }
    }

    /** Everything is about to be read from the beginning. */
    public void onReadBack() {
        read.clear();
    }

    /** Everything has been read from the beginning. */
    public void check() {
        acknowledged.forEach((partition, records) -> {
            TreeMap<Long, String> present = read.getOrDefault(partition, new TreeMap<>());
            records.forEach((offset, id) -> {
                if (!present.containsKey(offset)) {
                    violations.report(
                            INVARIANT,
                            partition + " has lost " + id + " at offset " + offset + "; its last offset is "
                                    + (present.isEmpty() ? "none" : present.lastKey()));
                }
            });
        });
    }
}
