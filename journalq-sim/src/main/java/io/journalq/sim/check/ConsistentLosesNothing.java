package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a replicated partition in delivery mode {@code consistent} has acknowledged, whatever its producer asks for, or has
 * shown to a consumer, is never lost: not even when all machines lose power.
 */
public final class ConsistentLosesNothing {
    private static final String INVARIANT = "ConsistentLosesNothing";

    private final Violations violations;
    private final Map<ClusterPartition, TreeMap<Long, String>> kept = new HashMap<>();
    private final Map<ClusterPartition, TreeMap<Long, String>> read = new HashMap<>();
    private long records;

    public ConsistentLosesNothing(Violations violations) {
        this.violations = violations;
    }

    /** Number of acknowledgements and reads. */
    public long records() {
        return records;
    }

    /** A leader acknowledges a record. */
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id) {
        keep(partition, offset, id, "broker " + leader + " acknowledges ");
    }

    /** A leader returns a record. */
    public void onRead(ClusterPartition partition, long offset, String id) {
        keep(partition, offset, id, "a consumer reads ");
        read.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
    }

    private void keep(ClusterPartition partition, long offset, String id, String how) {
        records++;
        String before = kept.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
        if (before != null && !before.equals(id)) {
            violations.report(
                    INVARIANT, partition + " offset " + offset + " holds " + before + ", and " + how + id + " there");
        }
    }

    /** Everything is about to be read from the beginning. */
    public void onReadBack() {
        read.clear();
    }

    /** Everything has been read from the beginning. */
    public void check() {
        kept.forEach((partition, all) -> {
            TreeMap<Long, String> present = read.getOrDefault(partition, new TreeMap<>());
            all.forEach((offset, id) -> {
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
