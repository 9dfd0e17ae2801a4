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
 * What was acknowledged, or shown to anybody, is there after a restart at its offset, unless {@link RemovalIsAllowed}. In mode
 * {@code eventual} power loss may take what was written within the flush interval, and what a flush then takes. In mode
 * {@code performance} every end, and every failing write, may take what nobody has read and was acknowledged within the write
 * interval.
 */
public final class NothingAcknowledgedIsLost {
    private final Violations violations;
    private final RemovalIsAllowed removals;
    private final DamageIsContained damage;

    /**
     * How the broker's last life ended.
     *
     * @param powerLost whether what was not synced may be gone
     * @param harmed whether data were damaged: see {@link DamageIsContained}
     * @param atMs when it ended
     * @param writesFailed whether the disk refused to take something
     * @param slackMs how much longer than its interval a write or a flush may take
     */
    public record End(boolean powerLost, boolean harmed, boolean writesFailed, long atMs, long slackMs) {}

    public NothingAcknowledgedIsLost(Violations violations, DamageIsContained damage) {
        this.violations = violations;
        this.damage = damage;
        this.removals = new RemovalIsAllowed(violations, damage);
    }

    /** Compares what was read after a restart with what was seen before it, and forgets what was allowed to be lost. */
    public void check(PartitionHistory partition, ReadBack found, End end, long clockMs) {
        TreeMap<Long, LogReader.Found> present = new TreeMap<>();
        found.records().forEach(record -> present.put(record.offset(), record));
        if (end.powerLost()) {
            // Ends of transactions may be lost too, which nobody has seen.
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
                        partition + " offset " + offset + " held " + seen + ", now " + now + "; the log reaches from "
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

    /** The offsets of what was deleted are not free again, unless they are lost with all that came after them. */
    private void checkEnd(PartitionHistory partition, ReadBack found, End end) {
        Map<Long, Seen> beyond = partition.deleted().tailMap(found.highWatermark(), true);
        for (Iterator<Map.Entry<Long, Seen>> rest = beyond.entrySet().iterator(); rest.hasNext(); ) {
            Map.Entry<Long, Seen> entry = rest.next();
            if (!end.harmed() && !mayBeLost(partition, entry.getValue(), end)) {
                violations.report(
                        "NothingAcknowledgedIsLost",
                        partition + " held " + entry + ", which was deleted, and ends at " + found.highWatermark()
                                + " now, " + end);
                return;
            }
            partition.onLost(entry.getKey(), entry.getValue().leaderEpoch());
            rest.remove();
        }
    }

    private static boolean mayBeLost(PartitionHistory partition, Seen seen, End end) {
        long writtenAtMs = seen.atMs() + partition.writeIntervalMs() + end.slackMs();
        if (partition.isAcknowledgedFromMemory() && end.powerLost() && end.writesFailed()) {
            return true; // It may have been written long after it was acknowledged.
        }
        if (partition.isAcknowledgedFromMemory() && seen.leaderEpoch() < 0) {
            // Nobody has read it: it may never have left the memory.
            if (end.writesFailed() || writtenAtMs >= end.atMs()) {
                return true;
            }
        }
        boolean withinBound = writtenAtMs + partition.flushIntervalMs() >= end.atMs();
        return end.powerLost() && !partition.isConsistent() && withinBound;
    }
}
