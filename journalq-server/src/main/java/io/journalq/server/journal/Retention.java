package io.journalq.server.journal;

import io.journalq.server.journal.segment.Segment;
import java.nio.file.Path;

/** Decides which segments exceed a journal's limits. Pure; the caller owns the segments. */
public final class Retention {
    /**
     * Spreads numbers that are close to each other over the whole range of a long: 2^64 divided by the golden ratio,
     * made odd.
     */
    private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

    private Retention() {}

    /** Whether the newest segment is old enough to be closed, or to be deleted with all of its records. */
    static boolean isRollDue(Segment newest, JournalConfig limits, long nowMs) {
        long maxAgeMs = limits.segmentMaxAgeMs() - jitterMs(newest, limits);
        return isOlder(newest, newest.firstTimestampMs(), maxAgeMs, nowMs)
                || isOlder(newest, newest.maxTimestampMs(), limits.retentionMs(), nowMs);
    }

    /**
     * How long before its maximum age a segment is closed. The jitter differs between partitions and segments, but is
     * constant for one segment, so that a restart changes nothing.
     */
    static long jitterMs(Segment segment, JournalConfig limits) {
        long boundMs = Math.min(limits.segmentJitterMs(), limits.segmentMaxAgeMs());
        if (boundMs == 0) {
            return 0;
        }
        Path partition = segment.logPath().toAbsolutePath().getParent().getFileName();
        long mixed = (31L * partition.toString().hashCode() + segment.baseOffset()) * GOLDEN_RATIO;
        return Math.floorMod(mixed ^ (mixed >>> 32), boundMs);
    }

    /**
     * The number of oldest segments to delete; never includes the newest.
     *
     * @param committedOffset a segment that reaches behind this offset is not deleted
     */
    static int expired(Segment[] segments, JournalConfig limits, long nowMs, long committedOffset) {
        long sizeBytes = 0;
        for (Segment segment : segments) {
            sizeBytes += segment.sizeBytes();
        }
        int count = 0;
        for (int i = 0; i < segments.length - 1 && segments[i].endOffset() <= committedOffset; i++) {
            Segment oldest = segments[i];
            long rest = sizeBytes - oldest.sizeBytes();
            boolean tooMuch = limits.retentionSizeBytes() >= 0 && rest >= limits.retentionSizeBytes();
            boolean tooOld = isOlder(oldest, oldest.maxTimestampMs(), limits.retentionMs(), nowMs);
            // It was written before the segment behind it, so it is deleted with that one.
            boolean undated = oldest.maxTimestampMs() < 0 && limits.retentionMs() >= 0;
            // Compaction left no records in the segment.
            boolean empty = undated && oldest.sizeBytes() == 0 && count == i;
            if (tooMuch || tooOld || empty) {
                count = i + 1;
            } else if (!undated) {
                break;
            }
            sizeBytes = rest;
        }
        return count;
    }

    /** Whether the segment is older than {@code maxAgeMs}. A segment without timestamps has no age. */
    private static boolean isOlder(Segment segment, long timestampMs, long maxAgeMs, long nowMs) {
        return maxAgeMs >= 0 && segment.sizeBytes() > 0 && timestampMs >= 0 && nowMs - timestampMs > maxAgeMs;
    }
}
