package io.journalq.server.shard;

import io.journalq.common.record.BatchRules;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.journal.JournalConfig;

/**
 * What a topic's configuration means for each of its partitions. Immutable.
 *
 * @param rules what a batch must be like
 * @param deliveryMode when an append is acknowledged
 * @param flushIntervalMs longest time that an acknowledged append may be off the disk, in milliseconds
 * @param journal for the journal
 */
public record PartitionSettings(
        BatchRules rules, DeliveryMode deliveryMode, long flushIntervalMs, JournalConfig journal) {
    private static final String LOG_APPEND_TIME = "LogAppendTime";

    /** The settings that {@code config} holds. */
    public static PartitionSettings of(TopicConfig config) {
        JournalConfig journal = JournalConfig.DEFAULT
                .withSegmentSizeBytes(config.get(TopicSettings.SEGMENT_BYTES))
                .withSegmentMaxAgeMs(config.get(TopicSettings.SEGMENT_MS))
                .withIndexIntervalBytes(config.get(TopicSettings.INDEX_INTERVAL_BYTES))
                .withRetention(config.get(TopicSettings.RETENTION_MS), config.get(TopicSettings.RETENTION_BYTES));
        return new PartitionSettings(
                rules(config),
                DeliveryMode.of(config.get(TopicSettings.DELIVERY_MODE)),
                config.get(TopicSettings.FLUSH_INTERVAL_MS),
                journal);
    }

    private static BatchRules rules(TopicConfig config) {
        return new BatchRules(
                config.get(TopicSettings.MAX_MESSAGE_BYTES),
                BatchRules.DEFAULT.maxDecompressedSizeBytes(),
                config.get(TopicSettings.TIMESTAMP_BEFORE_MAX_MS),
                config.get(TopicSettings.TIMESTAMP_AFTER_MAX_MS),
                config.get(TopicSettings.MESSAGE_TIMESTAMP_TYPE).equals(LOG_APPEND_TIME),
                BatchRules.DEFAULT.keysRequired(),
                BatchRules.DEFAULT.deepCheck());
    }
}
