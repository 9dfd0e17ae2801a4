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
 * Records leave a log only as somebody asked for: before the offset of DeleteRecords; when they are older than
 * {@code retention.ms}; when what is left is more than {@code retention.bytes}; when a newer record of their key is there, or
 * a tombstone was there for {@code delete.retention.ms}; when their transaction was aborted. What DeleteRecords was
 * acknowledged for never comes back.
 */
final class RemovalIsAllowed {
    private static final String INVARIANT = "NothingIsRemovedUnasked";

    private final Violations violations;
    private final DamageIsContained damage;
    private PartitionHistory partition;
    private ReadBack found;
    private long clockMs;
    private long removedBySizeBytes;
    private boolean harmed;
    /** What is missing at the beginning may have been lost, rather than removed. */
    private boolean mayLack;

    private String why = "";
    /** Records that are there, or were until compaction took them, by key and offset. */
    private final Map<String, NavigableMap<Long, SentRecord>> byKey = new HashMap<>();

    RemovalIsAllowed(Violations violations, DamageIsContained damage) {
        this.violations = violations;
        this.damage = damage;
    }

    /** From now on this partition is judged. */
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
        mayLack = harmed || (end.powerLost() && !partition.isConsistent());
        why = "";
        byKey.clear();
        if (partition.plan().isCompacted()) {
            partition.deleted().forEach((offset, seen) -> addKey(offset, seen.record()));
            present.values().stream()
                    .filter(record -> record.record() != null)
                    .forEach(record -> addKey(record.offset(), record.record()));
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
                    "TheLogStartNeverGoesBack",
                    partition + " begins at " + start + ", but everything before " + partition.deletedForSureUpTo()
                            + " was deleted; " + end);
        }
        partition.resetLogStart(start);
    }

    /** Whether a record may be missing that was there. */
    boolean mayBeRemoved(long offset, SentRecord record) {
        if (offset >= found.highWatermark()) {
            return false; // Nothing that removes records takes the log's end.
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
        // A newer record may be gone that nobody knows to have been appended: as an old tombstone, or by damage.
        boolean damagedBehind = damage.isDamagedBehind(partition, offset);
        for (SentRecord other : partition.allSent()) {
            if (other != record
                    && record.content().key().equals(other.content().key())
                    && (damagedBehind || isOldTombstone(other))
                    && supersedes(other, record)) {
                return true;
            }
        }
        why = "; " + record + " had behind it " + newer;
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

    /** Explains the last refusal. */
    String why() {
        return why;
    }

    /** Everything of the partition was judged. */
    void end() {
        if (removedBySizeBytes == 0) {
            return;
        }
        long deletedBytes = partition.deleted().values().stream()
                .mapToLong(seen -> seen.record().batchSizeBytes())
                .sum();
        long mostLeft = partition.sentSizeBytes() - deletedBytes;
        if (mostLeft < partition.plan().retentionBytes() && partition.deletedUpTo() == 0 && !mayLack) {
            violations.report(
                    INVARIANT,
                    partition + " keeps at most " + mostLeft + " bytes from offset " + found.logStartOffset()
                            + " on, but retention.bytes is " + partition.plan().retentionBytes());
        }
    }
}
