package io.journalq.server.journal;

import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.segment.Segment;

/**
 * What one journal is told about itself. Immutable; a changed topic configuration is a new value, given to
 * {@link Journal#setConfig}.
 *
 * @param segmentSizeBytes a segment is closed before it would exceed this; a single larger batch gets its own segment
 * @param segmentMaxAgeMs a segment is closed when its first batch's timestamp is older than this, in milliseconds
 * @param indexIntervalBytes one index entry for at least this many bytes of batches
 * @param retentionMs closed segments whose newest record is older than this are deleted, in milliseconds; -1 for never
 * @param retentionSizeBytes oldest segments are deleted while the rest still holds this much; -1 for no limit
 * @param warmSizeBytes what was written this recently is taken to be in the page cache and read without leaving the loop
 * @param checkpointIntervalBytes the flush that passes this much since the last checkpoint writes the next one; bounds
 *     what recovery reads
 * @param compaction whether and when superseded records go
 * @param segmentJitterMs a segment is closed up to this much before its maximum age, in milliseconds
 * @param segmentIndexBytes a segment is closed when the entries of its index have this size
 * @param deleteDelayMs deleted files stay this long, renamed, in milliseconds
 */
public record JournalConfig(
        int segmentSizeBytes,
        long segmentMaxAgeMs,
        int indexIntervalBytes,
        long retentionMs,
        long retentionSizeBytes,
        int warmSizeBytes,
        int checkpointIntervalBytes,
        CompactionConfig compaction,
        long segmentJitterMs,
        int segmentIndexBytes,
        long deleteDelayMs) {
    public static final long UNLIMITED = -1;

    /** Segments of 1 GiB or a week, kept for a week. */
    public static final JournalConfig DEFAULT = new JournalConfig(
            Segment.MAX_SIZE_BYTES,
            604_800_000L,
            16 << 10,
            604_800_000L,
            UNLIMITED,
            16 << 20,
            64 << 20,
            CompactionConfig.OFF,
            0,
            10 << 20,
            0);

    public JournalConfig {
        if (segmentSizeBytes <= 0 || segmentSizeBytes > Segment.MAX_SIZE_BYTES) {
            throw new IllegalArgumentException("a segment is 1 byte to 1 GiB, not " + segmentSizeBytes);
        }
        if (indexIntervalBytes <= 0 || warmSizeBytes < 0 || checkpointIntervalBytes <= 0 || segmentMaxAgeMs <= 0) {
            throw new IllegalArgumentException("intervals and ages are positive");
        }
    }

    public JournalConfig withSegmentSizeBytes(int value) {
        return new JournalConfig(
                value,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withSegmentMaxAgeMs(long value) {
        return new JournalConfig(
                segmentSizeBytes,
                value,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withIndexIntervalBytes(int value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                value,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    /** Both limits at once, as they are one policy. */
    public JournalConfig withRetention(long ms, long sizeBytes) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                ms,
                sizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withWarmSizeBytes(int value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                value,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withCheckpointIntervalBytes(int value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                value,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withCompaction(CompactionConfig value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                value,
                segmentJitterMs,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withSegmentJitterMs(long value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                value,
                segmentIndexBytes,
                deleteDelayMs);
    }

    public JournalConfig withSegmentIndexBytes(int value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                value,
                deleteDelayMs);
    }

    public JournalConfig withDeleteDelayMs(long value) {
        return new JournalConfig(
                segmentSizeBytes,
                segmentMaxAgeMs,
                indexIntervalBytes,
                retentionMs,
                retentionSizeBytes,
                warmSizeBytes,
                checkpointIntervalBytes,
                compaction,
                segmentJitterMs,
                segmentIndexBytes,
                value);
    }
}
