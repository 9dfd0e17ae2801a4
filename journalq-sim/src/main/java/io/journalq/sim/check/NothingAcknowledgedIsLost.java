package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.PartitionHistory.Seen;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.world.Violations;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/**
 * After a restart, each record that was acknowledged or read is at its offset, unless {@link RemovalIsAllowed} explains
 * its absence or the delivery mode allows the loss.
 *
 * <p>In mode {@code eventual}, a power loss may take what was written within the flush interval plus the duration of a
 * flush. In mode {@code performance}, each crash and each failing write may take records that nobody has read and that
 * were acknowledged within the write interval.
 */
public final class NothingAcknowledgedIsLost {
    private final Violations violations;
    private final RemovalIsAllowed removals;
    private final DamageIsContained damage;

    /**
     * How the last life of the broker ended.
     *
     * @param powerLost whether data that were not fsynced may be lost
     * @param harmed whether data were damaged, see {@link DamageIsContained}
     * @param writesFailed whether the disk may have refused writes
     * @param atMs time of the end
     * @param slackMs how much longer than its interval a write or a flush may take
     */
    public record End(boolean powerLost, boolean harmed, boolean writesFailed, long atMs, long slackMs) {}

    public NothingAcknowledgedIsLost(Violations violations, DamageIsContained damage) {
        this.violations = violations;
        this.damage = damage;
        this.removals = new RemovalIsAllowed(violations, damage);
    }

    /** Compares a reading after a restart with what was seen before, and forgets allowed losses. */
    public void check(PartitionHistory partition, ReadBack found, End end, long clockMs) {
        TreeMap<Long, LogReader.Found> present = new TreeMap<>();
        found.records().forEach(record -> present.put(record.offset(), record));
        if (end.powerLost()) {
            // Markers may be lost as well, which no client has seen.
            partition.cuts().add(present.isEmpty() ? 0 : present.lastKey() + 1);
            if (!partition.isConsistent()) {
                partition.onPowerLoss();
            }
        }
        removals.begin(partition, found, present, end, clockMs);
        Iterator<Map.Entry<Long, Seen>> before = partition.seen().entrySet().iterator();
        while (before.hasNext()) {
            Map.Entry<Long, Seen> entry = before.next();
            long offset = entry.getKey();
            Seen seen = entry.getValue();
            LogReader.Found now = present.get(offset);
            if (now != null && seen.id().equals(now.id())) {
                continue;
            }
            if (now == null && removals.mayBeRemoved(offset, seen.record())) {
                partition.deleted().put(offset, seen);
                before.remove();
                continue;
            }
            boolean lost = mayBeLost(partition, seen, end)
                    || (end.harmed() && damage.explains(partition, offset, found, end.powerLost()));
            if (!lost) {
                violations.report(
                        end.harmed() ? "DamageIsContained" : "NothingAcknowledgedIsLost",
                        partition + " offset " + offset + " held " + seen + ", now " + now + "; the log extends from "
                                + found.logStartOffset() + " to " + found.highWatermark() + ", " + end
                                + removals.why() + (end.harmed() ? "; " + damage : ""));
                return;
            }
            partition.onLost(offset, seen.leaderEpoch());
            partition.cuts().add(found.highWatermark());
            before.remove();
        }
        checkEnd(partition, found, end);
        removals.end();
    }

    /**
     * Checks that the offsets of deleted records are not assigned again, unless these and all later records are lost.
     */
    private void checkEnd(PartitionHistory partition, ReadBack found, End end) {
        Map<Long, Seen> beyond = partition.deleted().tailMap(found.highWatermark(), true);
        for (Iterator<Map.Entry<Long, Seen>> rest = beyond.entrySet().iterator(); rest.hasNext(); ) {
            Map.Entry<Long, Seen> entry = rest.next();
            if (!end.harmed() && !mayBeLost(partition, entry.getValue(), end)) {
                violations.report(
                        "NothingAcknowledgedIsLost",
                        partition + " held " + entry + ", which was deleted, and now ends at " + found.highWatermark()
                                + ", " + end);
                return;
            }
            partition.onLost(entry.getKey(), entry.getValue().leaderEpoch());
            rest.remove();
        }
    }

    private static boolean mayBeLost(PartitionHistory partition, Seen seen, End end) {
        long writtenAtMs = seen.atMs() + partition.writeIntervalMs() + end.slackMs();
        if (partition.isAcknowledgedFromMemory() && end.powerLost() && end.writesFailed()) {
            return true; // The record may have been written long after its acknowledgement.
        }
        if (partition.isAcknowledgedFromMemory() && seen.leaderEpoch() < 0) {
            // No client has read the record. It may have been in memory only.
            if (end.writesFailed() || writtenAtMs >= end.atMs()) {
                return true;
            }
        }
        boolean withinBound = writtenAtMs + partition.flushIntervalMs() >= end.atMs();
        return end.powerLost() && !partition.isConsistent() && withinBound;
    }
}
