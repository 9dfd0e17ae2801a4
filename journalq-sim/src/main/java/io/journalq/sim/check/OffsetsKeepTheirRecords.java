package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * An offset keeps its record and the leader epoch of that record. After a loss that the delivery mode allows, it gets
 * another record only in a newer leader epoch, because each start of the leader begins one. When a partition is recovered
 * because all eligible replicas have lost records, the one that leads may still have an older record, which others had
 * replaced.
 */
public final class OffsetsKeepTheirRecords {
    private static final String INVARIANT = "OffsetsKeepTheirRecords";

    private final Violations violations;
    private final Map<ClusterPartition, TreeMap<Long, Seen>> partitions = new HashMap<>();

    /**
     * A record that a client has read.
     *
     * @param recoveryEpoch the leader epoch of the partition's last recovery before
     */
    private record Seen(int recoveryEpoch, int epoch, String id) {
        boolean isSame(Seen other) {
            return epoch == other.epoch && id.equals(other.id);
        }

        boolean mayReplace(Seen before) {
            return epoch > before.epoch
                    ? !id.equals(before.id)
                    : epoch < before.epoch && recoveryEpoch > before.recoveryEpoch;
        }
    }

    public OffsetsKeepTheirRecords(Violations violations) {
        this.violations = violations;
    }

    /**
     * A broker returns a record of a leader epoch.
     *
     * @param recoveryEpoch the leader epoch of the partition's last recovery
     */
    public void onRead(ClusterPartition partition, int recoveryEpoch, long offset, int epoch, String id) {
        Seen now = new Seen(recoveryEpoch, epoch, id);
        Seen before =
                partitions.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, now);
        if (before != null && !now.isSame(before) && !now.mayReplace(before)) {
            violations.report(INVARIANT, partition + " offset " + offset + " held " + before + ", now " + now);
        }
    }
}
