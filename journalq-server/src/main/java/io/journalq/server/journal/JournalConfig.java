package io.journalq.server.journal;

import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.segment.Segment;
import java.util.function.Consumer;

/**
 * Settings of one journal. Immutable: a changed topic configuration is a new value, passed to
 * {@link Journal#setConfig}.
 *
 * @param segmentSizeBytes a segment is closed before it would exceed this size; a single larger batch gets a segment
 *     for itself
 * @param segmentMaxAgeMs a segment is closed when the timestamp of its first batch is older than this, in milliseconds
 * @param indexIntervalBytes minimum size of batches between two index entries
 * @param retentionMs closed segments whose newest record is older than this are deleted, in milliseconds; -1 for never
 * @param retentionSizeBytes the oldest segments are deleted while the remaining ones hold at least this much; -1 for no
 *     limit
 * @param warmSizeBytes the most recently written bytes up to this size are assumed to be in the page cache, and are
 *     read on the loop
 * @param checkpointIntervalBytes a flush writes a checkpoint after this many bytes since the last one; bounds how much
 *     recovery reads
 * @param compaction whether and when superseded records are removed
 * @param segmentJitterMs a segment is closed up to this much before its maximum age, in milliseconds
 * @param segmentIndexBytes a segment is closed when its index entries reach this size
 * @param deleteDelayMs deleted files are renamed and kept for this long, in milliseconds
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
            throw new IllegalArgumentException("segment size must be between 1 byte and 1 GiB: " + segmentSizeBytes);
        }
        if (indexIntervalBytes <= 0 || warmSizeBytes < 0 || checkpointIntervalBytes <= 0 || segmentMaxAgeMs <= 0) {
            throw new IllegalArgumentException("intervals and ages must be positive");
        }
    }

    public JournalConfig withSegmentSizeBytes(int value) {
        return with(copy -> copy.segmentSizeBytes = value);
    }

    public JournalConfig withSegmentMaxAgeMs(long value) {
        return with(copy -> copy.segmentMaxAgeMs = value);
    }

    public JournalConfig withIndexIntervalBytes(int value) {
        return with(copy -> copy.indexIntervalBytes = value);
    }

    /** Sets both limits together, because they form one policy. */
    public JournalConfig withRetention(long ms, long sizeBytes) {
        return with(copy -> {
            copy.retentionMs = ms;
            copy.retentionSizeBytes = sizeBytes;
        });
    }

    public JournalConfig withWarmSizeBytes(int value) {
        return with(copy -> copy.warmSizeBytes = value);
    }

    public JournalConfig withCheckpointIntervalBytes(int value) {
        return with(copy -> copy.checkpointIntervalBytes = value);
    }

    public JournalConfig withCompaction(CompactionConfig value) {
        return with(copy -> copy.compaction = value);
    }

    public JournalConfig withSegmentJitterMs(long value) {
        return with(copy -> copy.segmentJitterMs = value);
    }

    public JournalConfig withSegmentIndexBytes(int value) {
        return with(copy -> copy.segmentIndexBytes = value);
    }

    public JournalConfig withDeleteDelayMs(long value) {
        return with(copy -> copy.deleteDelayMs = value);
    }

    private JournalConfig with(Consumer<Copy> change) {
        Copy copy = new Copy(this);
        change.accept(copy);
        return copy.toConfig();
    }

    /** The settings while one of them is replaced. The only place that passes all of them by their order. */
    private static final class Copy {
        private int segmentSizeBytes;
        private long segmentMaxAgeMs;
        private int indexIntervalBytes;
        private long retentionMs;
        private long retentionSizeBytes;
        private int warmSizeBytes;
        private int checkpointIntervalBytes;
        private CompactionConfig compaction;
        private long segmentJitterMs;
        private int segmentIndexBytes;
        private long deleteDelayMs;

        Copy(JournalConfig from) {
            segmentSizeBytes = from.segmentSizeBytes;
            segmentMaxAgeMs = from.segmentMaxAgeMs;
            indexIntervalBytes = from.indexIntervalBytes;
            retentionMs = from.retentionMs;
            retentionSizeBytes = from.retentionSizeBytes;
            warmSizeBytes = from.warmSizeBytes;
            checkpointIntervalBytes = from.checkpointIntervalBytes;
            compaction = from.compaction;
            segmentJitterMs = from.segmentJitterMs;
            segmentIndexBytes = from.segmentIndexBytes;
            deleteDelayMs = from.deleteDelayMs;
        }

        JournalConfig toConfig() {
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
                    deleteDelayMs);
        }
    }
}
