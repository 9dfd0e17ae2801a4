package io.journalq.server.journal;

import io.journalq.server.journal.segment.Segment;

/** Which segments are past a journal's limits. Pure; whoever asks owns the segments. */
public final class Retention {
    private Retention() {}

    /** Whether the newest segment is so old that it should be closed, or all that it holds deleted. */
    static boolean isRollDue(Segment newest, JournalConfig limits, long nowMs) {
        return isOlder(newest, newest.firstTimestampMs(), limits.segmentMaxAgeMs(), nowMs)
                || isOlder(newest, newest.maxTimestampMs(), limits.retentionMs(), nowMs);
    }

    /**
     * How many of the oldest segments are to be deleted; never the newest.
     *
     * @param committedOffset no segment that reaches behind this is
     */
    static int expired(Segment[] segments, JournalConfig limits, long nowMs, long committedOffset) {
        long sizeBytes = 0;
        for (Segment segment : segments) {
            sizeBytes += segment.sizeBytes();
        }
        int count = 0;
        while (count < segments.length - 1 && segments[count].endOffset() <= committedOffset) {
            Segment oldest = segments[count];
            long rest = sizeBytes - oldest.sizeBytes();
            boolean tooMuch = limits.retentionSizeBytes() >= 0 && rest >= limits.retentionSizeBytes();
            // Nothing is left of what compaction emptied, not even an age.
            boolean empty = oldest.sizeBytes() == 0 && limits.retentionMs() >= 0;
            if (!tooMuch && !empty && !isOlder(oldest, oldest.maxTimestampMs(), limits.retentionMs(), nowMs)) {
                break;
            }
            sizeBytes = rest;
            count++;
        }
        return count;
    }

    /** Segments without any timestamp have no age. */
    private static boolean isOlder(Segment segment, long timestampMs, long maxAgeMs, long nowMs) {
        return maxAgeMs >= 0 && segment.sizeBytes() > 0 && timestampMs >= 0 && nowMs - timestampMs > maxAgeMs;
    }
}
