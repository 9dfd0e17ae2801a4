package io.journalq.server.shard;

import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.compaction.CompactionConfig;

/**
 * What a topic's configuration means for each of its partitions. Immutable.
 *
 * @param rules what a batch must be like
 * @param deliveryMode when an append is acknowledged
 * @param writeIntervalMs longest time that an append may be in memory only, in milliseconds
 * @param flushIntervalMs longest time that an acknowledged append may be off the disk, in milliseconds
 * @param deletes whether old records may be deleted whatever their keys
 * @param compression in which batches are kept; null for that in which they come
 * @param journal for the journal
 */
public record PartitionSettings(
        BatchRules rules,
        DeliveryMode deliveryMode,
        long writeIntervalMs,
        long flushIntervalMs,
        boolean deletes,
        CompressionCodec compression,
        JournalConfig journal) {
    private static final long SHORTEST_FLUSH_INTERVAL_MS = 1;
    private static final long LONGEST_FLUSH_INTERVAL_MS = 604_800_000L;
    private static final String LOG_APPEND_TIME = "LogAppendTime";

    /** The settings that {@code config} holds. */
    public static PartitionSettings of(TopicConfig config) {
        boolean deletes = config.get(TopicSettings.CLEANUP_POLICY).contains(TopicSettings.POLICY_DELETE);
        CompactionConfig compaction = compaction(config);
        long segmentMaxAgeMs = config.get(TopicSettings.SEGMENT_MS);
        JournalConfig journal = JournalConfig.DEFAULT
                .withSegmentSizeBytes(config.get(TopicSettings.SEGMENT_BYTES))
                .withSegmentMaxAgeMs(
                        compaction.enabled() ? Math.min(segmentMaxAgeMs, compaction.maxLagMs()) : segmentMaxAgeMs)
                .withSegmentJitterMs(config.get(TopicSettings.SEGMENT_JITTER_MS))
                .withSegmentIndexBytes(config.get(TopicSettings.SEGMENT_INDEX_BYTES))
                .withDeleteDelayMs(config.get(TopicSettings.FILE_DELETE_DELAY_MS))
                .withIndexIntervalBytes(config.get(TopicSettings.INDEX_INTERVAL_BYTES))
                .withRetention(
                        deletes ? config.get(TopicSettings.RETENTION_MS) : JournalConfig.UNLIMITED,
                        deletes ? config.get(TopicSettings.RETENTION_BYTES) : JournalConfig.UNLIMITED)
                .withCompaction(compaction);
        return new PartitionSettings(
                rules(config, compaction.enabled()),
                deliveryMode(config),
                config.get(TopicSettings.WRITE_INTERVAL_MS),
                Math.max(
                        SHORTEST_FLUSH_INTERVAL_MS,
                        Math.min(config.get(TopicSettings.FLUSH_INTERVAL_MS), LONGEST_FLUSH_INTERVAL_MS)),
                deletes,
                compression(config),
                journal);
    }

    private static DeliveryMode deliveryMode(TopicConfig config) {
        return config.get(TopicSettings.FLUSH_MESSAGES) == 1
                ? DeliveryMode.CONSISTENT
                : DeliveryMode.of(config.get(TopicSettings.DELIVERY_MODE));
    }

    private static CompressionCodec compression(TopicConfig config) {
        return switch (config.get(TopicSettings.COMPRESSION_TYPE)) {
            case "uncompressed", "none" -> CompressionCodec.NONE;
            case "gzip" -> CompressionCodec.GZIP;
            case "snappy" -> CompressionCodec.SNAPPY;
            case "lz4" -> CompressionCodec.LZ4;
            case "zstd" -> CompressionCodec.ZSTD;
            default -> null; // as the producer sends them
        };
    }

    /**
     * As these, and what is acknowledged is at least written, in the form in which it came: for what the broker itself must
     * not forget, and has staged when {@link PartitionHost#append} returns.
     */
    PartitionSettings kept() {
        DeliveryMode kept = deliveryMode == DeliveryMode.PERFORMANCE ? DeliveryMode.EVENTUAL : deliveryMode;
        return new PartitionSettings(rules, kept, writeIntervalMs, flushIntervalMs, deletes, null, journal);
    }

    /** Whether a batch in that compression has to be compressed anew. */
    boolean recompresses(CompressionCodec codec) {
        return compression != null && compression != codec;
    }

    private static CompactionConfig compaction(TopicConfig config) {
        return new CompactionConfig(
                config.get(TopicSettings.CLEANUP_POLICY).contains(TopicSettings.POLICY_COMPACT),
                config.get(TopicSettings.MIN_CLEANABLE_DIRTY_RATIO),
                config.get(TopicSettings.MIN_COMPACTION_LAG_MS),
                config.get(TopicSettings.MAX_COMPACTION_LAG_MS),
                config.get(TopicSettings.DELETE_RETENTION_MS));
    }

    private static BatchRules rules(TopicConfig config, boolean keysRequired) {
        return new BatchRules(
                config.get(TopicSettings.MAX_MESSAGE_BYTES),
                Math.max(config.get(TopicSettings.MAX_DECOMPRESSED_BYTES), config.get(TopicSettings.MAX_MESSAGE_BYTES)),
                config.get(TopicSettings.MAX_MESSAGE_HEADERS),
                config.get(TopicSettings.TIMESTAMP_BEFORE_MAX_MS),
                config.get(TopicSettings.TIMESTAMP_AFTER_MAX_MS),
                config.get(TopicSettings.MESSAGE_TIMESTAMP_TYPE).equals(LOG_APPEND_TIME),
                keysRequired,
                BatchRules.DEFAULT.deepCheck());
    }
}
