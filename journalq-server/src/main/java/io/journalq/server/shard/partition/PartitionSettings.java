package io.journalq.server.shard.partition;

import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.shard.append.AppendSettings;
import io.journalq.server.shard.append.DeliveryMode;

/**
 * The settings of a topic that concern its partitions. Immutable.
 *
 * @param append for appends
 * @param flushIntervalMs maximum time until an acknowledged append is durable, in milliseconds
 * @param deletes whether old records may be deleted regardless of their keys
 * @param journal for the journal
 * @param minInSyncReplicas number of replicas that must be in sync for an append with acks=all
 * @param throttled replicas to which the throttles of their brokers apply
 */
public record PartitionSettings(
        AppendSettings append,
        long flushIntervalMs,
        boolean deletes,
        JournalConfig journal,
        int minInSyncReplicas,
        ThrottledReplicas throttled) {
    private static final long SHORTEST_FLUSH_INTERVAL_MS = 1;
    private static final long LONGEST_FLUSH_INTERVAL_MS = 604_800_000L;
    private static final String LOG_APPEND_TIME = "LogAppendTime";

    /** Reads the settings from {@code config}. */
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
                new AppendSettings(
                        rules(config, compaction.enabled()),
                        compression(config),
                        deliveryMode(config),
                        config.get(TopicSettings.WRITE_INTERVAL_MS)),
                Math.max(
                        SHORTEST_FLUSH_INTERVAL_MS,
                        Math.min(config.get(TopicSettings.FLUSH_INTERVAL_MS), LONGEST_FLUSH_INTERVAL_MS)),
                deletes,
                journal,
                config.get(TopicSettings.MIN_INSYNC_REPLICAS),
                new ThrottledReplicas(
                        config.get(TopicSettings.LEADER_THROTTLED_REPLICAS),
                        config.get(TopicSettings.FOLLOWER_THROTTLED_REPLICAS)));
    }

    private static DeliveryMode deliveryMode(TopicConfig config) {
        return config.get(TopicSettings.FLUSH_MESSAGES) == 1
                ? DeliveryMode.CONSISTENT
                : DeliveryMode.of(config.get(TopicSettings.DELIVERY_MODE));
    }

    private static CompressionCodec compression(TopicConfig config) {
        if (config.get(TopicSettings.ENCRYPTION_REQUIRED)) {
            return null; // sealed content cannot be compressed
        }
        return switch (config.get(TopicSettings.COMPRESSION_TYPE)) {
            case "uncompressed", "none" -> CompressionCodec.NONE;
            case "gzip" -> CompressionCodec.GZIP;
            case "snappy" -> CompressionCodec.SNAPPY;
            case "lz4" -> CompressionCodec.LZ4;
            case "zstd" -> CompressionCodec.ZSTD;
            default -> null; // as the producer compressed them
        };
    }

    /**
     * The settings of an internal topic: every acknowledged append is at least written, and is not compressed again
     * or required to be sealed. It is staged when {@link io.journalq.server.shard.partition.PartitionHost#append} returns.
     */
    public PartitionSettings ofInternalTopic() {
        DeliveryMode mode =
                append.deliveryMode() == DeliveryMode.PERFORMANCE ? DeliveryMode.EVENTUAL : append.deliveryMode();
        return with(append.rules().withoutSeal(), null, mode);
    }

    /** The settings of a topic with several replicas, whatever mode is the default of the broker. */
    public PartitionSettings ofReplicatedTopic(DeliveryMode mode) {
        return with(append.rules(), append.compression(), mode);
    }

    private PartitionSettings with(BatchRules rules, CompressionCodec compression, DeliveryMode mode) {
        return new PartitionSettings(
                new AppendSettings(rules, compression, mode, append.writeIntervalMs()),
                flushIntervalMs,
                deletes,
                journal,
                minInSyncReplicas,
                throttled);
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
                BatchRules.DEFAULT.deepCheck(),
                config.get(TopicSettings.ENCRYPTION_REQUIRED));
    }
}
