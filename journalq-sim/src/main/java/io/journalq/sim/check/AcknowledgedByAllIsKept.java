package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a replicated partition in delivery mode {@code eventual} has acknowledged with acks=all, or has shown to a
 * consumer, is lost only if all replicas that were in sync last have lost power, and then only what was written within the
 * flush interval.
 */
public final class AcknowledgedByAllIsKept {
    private static final String INVARIANT = "AcknowledgedByAllIsKept";

    private final Violations violations;
    private final PowerLosses losses;
    private final Map<ClusterPartition, TreeMap<Long, Kept>> kept = new HashMap<>();
    private final Map<ClusterPartition, TreeMap<Long, String>> read = new HashMap<>();
    private long records;

    /** A record that was acknowledged or seen. */
    private record Kept(String id, long atMs) {}

    public AcknowledgedByAllIsKept(Violations violations, PowerLosses losses) {
        this.violations = violations;
        this.losses = losses;
    }

    /** Number of acknowledgements and reads. */
    public long records() {
        return records;
    }

    /** A leader acknowledges a record. */
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id, long nowMs) {
        keep(partition, offset, id, nowMs, "broker " + leader + " acknowledges ");
    }

    /** A leader returns a record. */
    public void onRead(ClusterPartition partition, long offset, String id, long nowMs) {
        keep(partition, offset, id, nowMs, "a consumer reads ");
        read.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
    }

    private void keep(ClusterPartition partition, long offset, String id, long nowMs, String how) {
        records++;
        TreeMap<Long, Kept> ofPartition = kept.computeIfAbsent(partition, none -> new TreeMap<>());
        Kept before = ofPartition.get(offset);
        if (before == null) {
            ofPartition.put(offset, new Kept(id, nowMs));
        } else if (!before.id().equals(id)) {
            if (!losses.mayHaveTaken(partition, before.atMs())) {
                violations.report(
                        INVARIANT,
                        partition + " offset " + offset + " holds " + before + ", and " + how + id + " there");
            }
            ofPartition.put(offset, new Kept(id, nowMs));
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
            all.forEach((offset, record) -> {
                if (!present.containsKey(offset) && !losses.mayHaveTaken(partition, record.atMs())) {
                    violations.report(
                            INVARIANT,
                            partition + " has lost " + record + " at offset " + offset + "; its last offset is "
                                    + (present.isEmpty() ? "none" : present.lastKey()));
                }
            });
        });
    }
}
