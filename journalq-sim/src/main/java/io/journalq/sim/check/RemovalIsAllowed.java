package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.SentRecord;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.workload.TopicPlan;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Records are removed only for one of these reasons:
 *
 * <ul>
 *   <li>DeleteRecords was called with a higher offset;
 *   <li>they are older than {@code retention.ms};
 *   <li>the later records exceed {@code retention.bytes};
 *   <li>a newer record of their key exists, or a tombstone existed for {@code delete.retention.ms};
 *   <li>their transaction was aborted.
 * </ul>
 *
 * <p>Records that DeleteRecords has acknowledged never come back.
 */
final class RemovalIsAllowed {
    private static final String INVARIANT = "RecordsAreRemovedOnlyAsConfigured";

    private final Violations violations;
    private final DamageIsContained damage;
    private PartitionHistory partition;
    private ReadBack found;
    private long clockMs;
    private long removedBySizeBytes;
    private boolean harmed;
    /** Whether records missing at the beginning may have been lost instead of removed. */
    private boolean mayBeLost;

    private String why = "";
    /** Records that exist, or existed until compaction removed them, by key and offset. */
    private final Map<String, NavigableMap<Long, SentRecord>> byKey = new HashMap<>();

    RemovalIsAllowed(Violations violations, DamageIsContained damage) {
        this.violations = violations;
        this.damage = damage;
    }

    /** Begins to check a partition. */
    void begin(
            PartitionHistory ofPartition,
            ReadBack readBack,
            NavigableMap<Long, LogReader.Found> present,
            NothingAcknowledgedIsLost.End end,
            long nowMs) {
        partition = ofPartition;
        found = readBack;
        clockMs = nowMs;
        removedBySizeBytes = 0;
        harmed = end.harmed();
        mayBeLost = harmed || (end.powerLost() && !partition.isConsistent());
        why = "";
        byKey.clear();
        if (partition.plan().isCompacted()) {
            partition.deleted().forEach((offset, seen) -> addKey(offset, seen.record()));
            present.values().stream()
                    .filter(record -> record.id() != null)
                    .forEach(record -> addKey(record.offset(), partition.find(record.id())));
        }
        checkStart(end);
    }

    private void addKey(long offset, SentRecord record) {
        byKey.computeIfAbsent(record.content().key(), none -> new TreeMap<>()).put(offset, record);
    }

    private void checkStart(NothingAcknowledgedIsLost.End end) {
        long start = found.logStartOffset();
        if (start < partition.deletedForSureUpTo() && !harmed) {
            violations.report(
                    "LogStartNeverMovesBack",
                    partition + " begins at " + start + ", but everything before " + partition.deletedForSureUpTo()
                            + " was deleted; " + end);
        }
        partition.resetLogStart(start);
    }

    /** Whether a record that existed may be missing. */
    boolean mayBeRemoved(long offset, SentRecord record) {
        if (offset >= found.highWatermark()) {
            return false; // Neither deletion nor compaction removes the end of the log.
        }
        if (offset < found.logStartOffset()) {
            return offset < partition.deletedUpTo() || mayBeTooOldOrTooMuch(record);
        }
        return partition.plan().isCompacted() && mayBeCompacted(offset, record);
    }

    private boolean mayBeTooOldOrTooMuch(SentRecord record) {
        return switch (partition.plan().cleanup()) {
            case BY_AGE -> record.content().timestampMs() + partition.plan().retentionMs() < clockMs;
            case BY_SIZE -> {
                removedBySizeBytes += record.batchSizeBytes();
                yield true;
            }
            default -> false;
        };
    }

    private boolean mayBeCompacted(long offset, SentRecord record) {
        if (mayBeAborted(record) || isOldTombstone(record)) {
            return true;
        }
        List<SentRecord> newer =
                new ArrayList<>(byKey.getOrDefault(record.content().key(), Collections.emptyNavigableMap())
                        .tailMap(offset, false)
                        .values());
        for (SentRecord other : newer) {
            if (supersedes(other, record)) {
                return true;
            }
        }
        // A newer record of unknown outcome may have been appended, and then removed as an old tombstone or lost by
        // damage.
        boolean damagedAfter = damage.isDamagedAfter(partition, offset);
        for (SentRecord other : partition.allSent()) {
            if (other != record
                    && record.content().key().equals(other.content().key())
                    && (damagedAfter || isOldTombstone(other))
                    && supersedes(other, record)) {
                return true;
            }
        }
        why = "; later records with the key of " + record + ": " + newer;
        return false;
    }

    private boolean supersedes(SentRecord other, SentRecord record) {
        SentTransaction transaction = other.transaction();
        boolean counts = transaction == null || transaction.mayBeCommitted();
        long minLagMs = partition.plan().compaction().minLagMs();
        return counts
                && other.content().timestampMs() + minLagMs <= clockMs
                && record.content().timestampMs() + minLagMs <= clockMs;
    }

    private static boolean mayBeAborted(SentRecord record) {
        return record.transaction() != null && !record.transaction().isCommitted();
    }

    private boolean isOldTombstone(SentRecord record) {
        TopicPlan.CompactionPlan plan = partition.plan().compaction();
        return record.content().tombstone() && record.content().timestampMs() + plan.deleteRetentionMs() <= clockMs;
    }

    /** Details of the last removal that was not allowed. */
    String why() {
        return why;
    }

    /** Ends the check of a partition. */
    void end() {
        if (removedBySizeBytes == 0) {
            return;
        }
        long deletedBytes = partition.deleted().values().stream()
                .mapToLong(seen -> seen.record().batchSizeBytes())
                .sum();
        long mostLeft = partition.sentSizeBytes() - deletedBytes;
        if (mostLeft < partition.plan().retentionBytes() && partition.deletedUpTo() == 0 && !mayBeLost) {
            violations.report(
                    INVARIANT,
                    partition + " keeps at most " + mostLeft + " bytes from offset " + found.logStartOffset()
                            + ", but retention.bytes is " + partition.plan().retentionBytes());
        }
    }
}
