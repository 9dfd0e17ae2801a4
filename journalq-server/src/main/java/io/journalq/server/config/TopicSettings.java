package io.journalq.server.config;

import java.util.List;

/**
 * Every setting of a topic. The broker's settings hold one of the same name for each: the default of topics that do not
 * set it.
 */
public final class TopicSettings {
    private static final long WEEK_MS = 604_800_000L;

    public static final ConfigKey<String> CLEANUP_POLICY = ConfigKey.ofChoice(
            "cleanup.policy",
            "delete",
            List.of("delete"),
            "What happens to old messages. delete: whole segments go when retention says so.");
    public static final ConfigKey<String> DELIVERY_MODE = ConfigKey.ofChoice(
            "delivery.mode",
            "eventual",
            List.of("eventual", "consistent"),
            "When a message is acknowledged. eventual: in the page cache, synced within flush.interval.ms;"
                    + " consistent: synced to disk.");
    public static final ConfigKey<Long> FLUSH_INTERVAL_MS = ConfigKey.ofLong(
            "flush.interval.ms",
            ConfigUnit.MILLISECONDS,
            1_000L,
            1L,
            WEEK_MS,
            "A written message is synced to disk within this time.");
    public static final ConfigKey<Long> RETENTION_MS = ConfigKey.ofLong(
            "retention.ms",
            ConfigUnit.MILLISECONDS,
            WEEK_MS,
            -1L,
            Long.MAX_VALUE,
            "Segments whose newest message is older are deleted. -1: never.");
    public static final ConfigKey<Long> RETENTION_BYTES = ConfigKey.ofLong(
            "retention.bytes",
            ConfigUnit.BYTES,
            -1L,
            -1L,
            Long.MAX_VALUE,
            "Oldest segments of a partition are deleted while the rest still holds this much. -1: no limit.");
    public static final ConfigKey<Integer> SEGMENT_BYTES = ConfigKey.ofInt(
            "segment.bytes", ConfigUnit.BYTES, 1 << 30, 1 << 10, 1 << 30, "Size at which a segment is closed.");
    public static final ConfigKey<Long> SEGMENT_MS = ConfigKey.ofLong(
            "segment.ms", ConfigUnit.MILLISECONDS, WEEK_MS, 1L, Long.MAX_VALUE, "Age at which a segment is closed.");
    public static final ConfigKey<Integer> INDEX_INTERVAL_BYTES = ConfigKey.ofInt(
            "index.interval.bytes",
            ConfigUnit.BYTES,
            16 << 10,
            1 << 10,
            1 << 30,
            "One entry of the offset index for at least this many bytes.");
    public static final ConfigKey<Integer> MAX_MESSAGE_BYTES = ConfigKey.ofInt(
            "max.message.bytes",
            ConfigUnit.BYTES,
            1_048_588,
            0,
            1 << 30,
            "Largest batch of messages, as it comes, compressed or not.");
    public static final ConfigKey<String> MESSAGE_TIMESTAMP_TYPE = ConfigKey.ofChoice(
            "message.timestamp.type",
            "CreateTime",
            List.of("CreateTime", "LogAppendTime"),
            "Whether a message keeps its producer's timestamp or gets the broker's.");
    public static final ConfigKey<Long> TIMESTAMP_BEFORE_MAX_MS = ConfigKey.ofLong(
            "message.timestamp.before.max.ms",
            ConfigUnit.MILLISECONDS,
            Long.MAX_VALUE,
            0L,
            Long.MAX_VALUE,
            "How far before the broker's clock a message's timestamp may lie.");
    public static final ConfigKey<Long> TIMESTAMP_AFTER_MAX_MS = ConfigKey.ofLong(
            "message.timestamp.after.max.ms",
            ConfigUnit.MILLISECONDS,
            3_600_000L,
            0L,
            Long.MAX_VALUE,
            "How far past the broker's clock a message's timestamp may lie.");
    public static final ConfigKey<String> COMPRESSION_TYPE = ConfigKey.ofChoice(
            "compression.type", "producer", List.of("producer"), "How batches are kept. producer: as they came.");
    public static final ConfigKey<Integer> MIN_INSYNC_REPLICAS = ConfigKey.ofInt(
            "min.insync.replicas",
            ConfigUnit.NONE,
            1,
            1,
            1,
            "Replicas that must have a message before acks=all is answered; 1, as there is one broker.");

    public static final ConfigKeys ALL = new ConfigKeys(List.of(
            CLEANUP_POLICY,
            DELIVERY_MODE,
            FLUSH_INTERVAL_MS,
            RETENTION_MS,
            RETENTION_BYTES,
            SEGMENT_BYTES,
            SEGMENT_MS,
            INDEX_INTERVAL_BYTES,
            MAX_MESSAGE_BYTES,
            MESSAGE_TIMESTAMP_TYPE,
            TIMESTAMP_BEFORE_MAX_MS,
            TIMESTAMP_AFTER_MAX_MS,
            COMPRESSION_TYPE,
            MIN_INSYNC_REPLICAS));

    private TopicSettings() {}
}
