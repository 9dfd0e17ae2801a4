package io.journalq.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Every setting of a topic. For each one, the broker has a setting of the same name, which applies to topics without
 * it.
 */
public final class TopicSettings {
    private static final long DAY_MS = 86_400_000L;
    private static final long WEEK_MS = 604_800_000L;

    private static final Pattern THROTTLED_REPLICA = Pattern.compile("\\d+:\\d+");

    /** The beginning of the documentation of each setting that is stored but has no effect. */
    private static final String NO_EFFECT = "Accepted for compatibility with Kafka, without effect: ";

    /** Item of {@link #CLEANUP_POLICY}. */
    public static final String POLICY_DELETE = "delete";

    /** Item of {@link #CLEANUP_POLICY}. */
    public static final String POLICY_COMPACT = "compact";

    /** Value of {@link #COMPRESSION_TYPE}: batches are stored as the producer compressed them. */
    public static final String COMPRESSION_OF_PRODUCER = "producer";

    public static final ConfigKey<List<String>> CLEANUP_POLICY = ConfigKey.ofList(
                    "cleanup.policy",
                    List.of(POLICY_DELETE),
                    "What happens to old records: one of these policies, or both. delete: retention deletes whole "
                            + "segments. compact: only the newest record of each key is kept, and each record needs a key.",
                    ConfigKey.choiceOf(List.of(POLICY_COMPACT, POLICY_DELETE)))
            .atLeastOneItem();
    public static final ConfigKey<Double> MIN_CLEANABLE_DIRTY_RATIO = ConfigKey.ofFraction(
            "min.cleanable.dirty.ratio",
            0.5,
            "Fraction of a partition's closed segments that must be new before the partition is compacted " + "again.");
    public static final ConfigKey<Long> MIN_COMPACTION_LAG_MS = ConfigKey.ofLong(
            "min.compaction.lag.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "Minimum age of a record before compaction can remove it.");
    public static final ConfigKey<Long> MAX_COMPACTION_LAG_MS = ConfigKey.ofLong(
            "max.compaction.lag.ms",
            ConfigUnit.MILLISECONDS,
            Long.MAX_VALUE,
            1L,
            Long.MAX_VALUE,
            "Approximate maximum time that a record waits for compaction, regardless of "
                    + "min.cleanable.dirty.ratio.");
    public static final ConfigKey<Long> DELETE_RETENTION_MS = ConfigKey.ofLong(
            "delete.retention.ms",
            ConfigUnit.MILLISECONDS,
            DAY_MS,
            0L,
            Long.MAX_VALUE,
            "Time for which a tombstone (a record without a value) is kept after its first compaction.");
    public static final ConfigKey<String> DELIVERY_MODE = ConfigKey.ofChoice(
            "delivery.mode",
            "eventual",
            List.of("eventual", "consistent", "performance"),
            "When a record is acknowledged. eventual: in the page cache, and fsynced within "
                    + "flush.interval.ms. consistent: after the fsync. performance: in memory, and written within "
                    + "write.interval.ms, so that a killed broker loses what is not yet written.");
    public static final ConfigKey<Long> WRITE_INTERVAL_MS = ConfigKey.ofLong(
            "write.interval.ms",
            ConfigUnit.MILLISECONDS,
            10L,
            1L,
            60_000L,
            "Maximum time until a record in delivery mode performance is written and visible to consumers.");
    public static final ConfigKey<Long> FLUSH_INTERVAL_MS = ConfigKey.ofLong(
            "flush.interval.ms",
            ConfigUnit.MILLISECONDS,
            1_000L,
            0L,
            Long.MAX_VALUE,
            "Maximum time until a written record is fsynced. 0 means 1 ms, and more than 7 days means 7 "
                    + "days. Kafka's name flush.ms is accepted.");
    public static final ConfigKey<Long> FLUSH_MESSAGES = ConfigKey.ofLong(
            "flush.messages",
            ConfigUnit.NONE,
            Long.MAX_VALUE,
            1L,
            Long.MAX_VALUE,
            "With 1, a record is acknowledged after the fsync, as with delivery.mode=consistent and "
                    + "regardless of delivery.mode. Any other number has no effect, and flush.interval.ms applies.");
    public static final ConfigKey<Long> RETENTION_MS = ConfigKey.ofLong(
            "retention.ms",
            ConfigUnit.MILLISECONDS,
            WEEK_MS,
            -1L,
            Long.MAX_VALUE,
            "Age of its newest record at which a segment is deleted. With -1, never.");
    public static final ConfigKey<Long> RETENTION_BYTES = ConfigKey.ofLong(
            "retention.bytes",
            ConfigUnit.BYTES,
            -1L,
            -1L,
            Long.MAX_VALUE,
            "The oldest segments of a partition are deleted while the rest still has at least this size. "
                    + "With -1, there is no limit.");
    public static final ConfigKey<Integer> SEGMENT_BYTES = ConfigKey.ofInt(
            "segment.bytes", ConfigUnit.BYTES, 1 << 30, 1 << 10, 1 << 30, "Size at which a segment is closed.");
    public static final ConfigKey<Long> SEGMENT_MS = ConfigKey.ofLong(
            "segment.ms", ConfigUnit.MILLISECONDS, WEEK_MS, 1L, Long.MAX_VALUE, "Age at which a segment is closed.");
    public static final ConfigKey<Long> SEGMENT_JITTER_MS = ConfigKey.ofLong(
            "segment.jitter.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "Maximum random time by which a segment is closed before segment.ms, so that partitions that "
                    + "were created together do not close their segments together.");
    public static final ConfigKey<Integer> SEGMENT_INDEX_BYTES = ConfigKey.ofInt(
            "segment.index.bytes",
            ConfigUnit.BYTES,
            10 << 20,
            4,
            Integer.MAX_VALUE,
            "Size of the offset index at which a segment is closed. An entry uses 16 bytes.");
    public static final ConfigKey<Long> FILE_DELETE_DELAY_MS = ConfigKey.ofLong(
            "file.delete.delay.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "Time for which the files of deleted topics and segments stay on the disk, renamed. A restart "
                    + "removes them at once. Consumers that read a deleted segment need no delay.");
    public static final ConfigKey<Integer> INDEX_INTERVAL_BYTES = ConfigKey.ofInt(
            "index.interval.bytes",
            ConfigUnit.BYTES,
            16 << 10,
            1 << 10,
            1 << 30,
            "Minimum number of bytes between two entries of the offset index.");
    public static final ConfigKey<Integer> MAX_MESSAGE_BYTES = ConfigKey.ofInt(
            "max.message.bytes",
            ConfigUnit.BYTES,
            1_048_588,
            0,
            1 << 30,
            "Maximum size of a batch as the producer sends it, compressed or not.");
    public static final ConfigKey<Integer> MAX_DECOMPRESSED_BYTES = ConfigKey.ofInt(
            "max.decompressed.bytes",
            ConfigUnit.BYTES,
            32 << 20,
            1 << 10,
            1 << 30,
            "Maximum decompressed size of a batch. A limit below max.message.bytes has the effect of "
                    + "max.message.bytes.");
    public static final ConfigKey<Integer> MAX_MESSAGE_HEADERS = ConfigKey.ofInt(
            "max.message.headers", ConfigUnit.NONE, 10_000, 0, 10_000_000, "Maximum number of headers of a record.");
    public static final ConfigKey<String> MESSAGE_TIMESTAMP_TYPE = ConfigKey.ofChoice(
            "message.timestamp.type",
            "CreateTime",
            List.of("CreateTime", "LogAppendTime"),
            "Whether a record keeps its producer's timestamp (CreateTime) or gets the broker's " + "(LogAppendTime).");
    public static final ConfigKey<Long> TIMESTAMP_BEFORE_MAX_MS = ConfigKey.ofLong(
            "message.timestamp.before.max.ms",
            ConfigUnit.MILLISECONDS,
            Long.MAX_VALUE,
            0L,
            Long.MAX_VALUE,
            "Maximum time by which a record's timestamp can be before the broker's clock.");
    public static final ConfigKey<Long> TIMESTAMP_AFTER_MAX_MS = ConfigKey.ofLong(
            "message.timestamp.after.max.ms",
            ConfigUnit.MILLISECONDS,
            3_600_000L,
            0L,
            Long.MAX_VALUE,
            "Maximum time by which a record's timestamp can be after the broker's clock.");
    public static final ConfigKey<String> COMPRESSION_TYPE = ConfigKey.ofChoice(
            "compression.type",
            COMPRESSION_OF_PRODUCER,
            List.of(COMPRESSION_OF_PRODUCER, "uncompressed", "none", "gzip", "snappy", "lz4", "zstd"),
            "How batches are stored. producer: as they were sent. A codec: recompressed with that codec, at "
                    + "the cost of processor time. uncompressed or none: decompressed.");
    public static final ConfigKey<Integer> MIN_INSYNC_REPLICAS = ConfigKey.ofInt(
            "min.insync.replicas",
            ConfigUnit.NONE,
            1,
            1,
            100,
            "Number of replicas that must be in sync, so that the leader accepts a record with acks=all. If a partition "
                    + "has fewer replicas, all of them must be.");

    public static final ConfigKey<Boolean> ENCRYPTION_REQUIRED = ConfigKey.ofBoolean(
            "encryption.required",
            false,
            "Whether only batches that clients have sealed (JQE1) are accepted. In a compacted topic, they must be "
                    + "sealed in mode record. compression.type has no effect then. Set it for topics, not as the "
                    + "default of a broker: the topics jqe1.keys and jqe1.registry are not sealed.");

    public static final ConfigKey<Boolean> UNCLEAN_LEADER_ELECTION = ConfigKey.ofBoolean(
            "unclean.leader.election.enable",
            false,
            "Whether an operator may make a replica lead that does not have all acknowledged records (ElectLeaders with "
                    + "type UNCLEAN), when no other replica is available. It is never done automatically. Set it for topics, not as the default "
                    + "of a broker.");

    public static final ConfigKey<List<String>> LEADER_THROTTLED_REPLICAS = ConfigKey.ofList(
                    "leader.replication.throttled.replicas",
                    List.of(),
                    "Replicas whose brokers obey leader.replication.throttled.rate when they lead: partition:broker, such "
                            + "as 0:1,1:1, or * for all. bin/journalq cluster reassign --throttle sets and deletes it.")
            .checkedBy(TopicSettings::readThrottledReplicas);
    public static final ConfigKey<List<String>> FOLLOWER_THROTTLED_REPLICAS = ConfigKey.ofList(
                    "follower.replication.throttled.replicas",
                    List.of(),
                    "Replicas whose brokers obey follower.replication.throttled.rate when they follow: partition:broker, "
                            + "such as 0:3,1:3, or * for all. bin/journalq cluster reassign --throttle sets and deletes it.")
            .checkedBy(TopicSettings::readThrottledReplicas);

    private static final String FOR_TIERED_STORAGE = NO_EFFECT + "there is no tiered storage.";
    private static final String FOR_CODEC_LEVELS = NO_EFFECT + "each codec compresses at its own default level.";

    public static final ConfigKey<Boolean> PREALLOCATE =
            ConfigKey.ofBoolean("preallocate", false, NO_EFFECT + "files grow as they are written.");
    public static final ConfigKey<Long> LOCAL_RETENTION_MS = ConfigKey.ofLong(
            "local.retention.ms", ConfigUnit.MILLISECONDS, -2L, -2L, Long.MAX_VALUE, FOR_TIERED_STORAGE);
    public static final ConfigKey<Long> LOCAL_RETENTION_BYTES =
            ConfigKey.ofLong("local.retention.bytes", ConfigUnit.BYTES, -2L, -2L, Long.MAX_VALUE, FOR_TIERED_STORAGE);

    /**
     * Settings of Kafka's topics that have no effect here. They are parsed, checked and stored as in Kafka, so that
     * scripts written for Kafka can create their topics. They come last in {@link #ALL}.
     */
    public static final ConfigKeys WITHOUT_EFFECT = new ConfigKeys(List.of(
            ConfigKey.ofInt("compression.gzip.level", ConfigUnit.NONE, -1, -1, 9, FOR_CODEC_LEVELS)
                    .checkedAfter(TopicSettings::checkGzipLevel),
            ConfigKey.ofInt("compression.lz4.level", ConfigUnit.NONE, 9, 1, 17, FOR_CODEC_LEVELS),
            ConfigKey.ofInt("compression.zstd.level", ConfigUnit.NONE, 3, -131_072, 22, FOR_CODEC_LEVELS),
            PREALLOCATE,
            ConfigKey.ofBoolean("remote.storage.enable", false, FOR_TIERED_STORAGE),
            ConfigKey.ofBoolean("remote.log.copy.disable", false, FOR_TIERED_STORAGE),
            ConfigKey.ofBoolean("remote.log.delete.on.disable", false, FOR_TIERED_STORAGE),
            LOCAL_RETENTION_MS,
            LOCAL_RETENTION_BYTES));

    public static final ConfigKeys ALL = all();

    private TopicSettings() {}

    /** Whether setting {@code name} to {@code value} has no effect, for a topic or a broker. */
    public static boolean isWithoutEffect(String name, String value) {
        return WITHOUT_EFFECT.find(name) != null
                || (name.equals(FLUSH_MESSAGES.name()) && !value.strip().equals("1"));
    }

    private static ConfigKeys all() {
        List<ConfigKey<?>> keys = new ArrayList<>(List.of(
                CLEANUP_POLICY,
                MIN_CLEANABLE_DIRTY_RATIO,
                MIN_COMPACTION_LAG_MS,
                MAX_COMPACTION_LAG_MS,
                DELETE_RETENTION_MS,
                DELIVERY_MODE,
                WRITE_INTERVAL_MS,
                FLUSH_INTERVAL_MS,
                FLUSH_MESSAGES,
                RETENTION_MS,
                RETENTION_BYTES,
                SEGMENT_BYTES,
                SEGMENT_MS,
                SEGMENT_JITTER_MS,
                SEGMENT_INDEX_BYTES,
                FILE_DELETE_DELAY_MS,
                INDEX_INTERVAL_BYTES,
                MAX_MESSAGE_BYTES,
                MAX_DECOMPRESSED_BYTES,
                MAX_MESSAGE_HEADERS,
                MESSAGE_TIMESTAMP_TYPE,
                TIMESTAMP_BEFORE_MAX_MS,
                TIMESTAMP_AFTER_MAX_MS,
                COMPRESSION_TYPE,
                MIN_INSYNC_REPLICAS,
                UNCLEAN_LEADER_ELECTION,
                ENCRYPTION_REQUIRED,
                LEADER_THROTTLED_REPLICAS,
                FOLLOWER_THROTTLED_REPLICAS));
        keys.addAll(WITHOUT_EFFECT.all());
        return new ConfigKeys(keys);
    }

    private static void checkGzipLevel(int level) throws ConfigException {
        if (level == 0) {
            throw new ConfigException("must be -1, or from 1 to 9");
        }
    }

    /** Parses such a list like Kafka: either every item is partition:broker, or the only item is an asterisk. */
    private static List<String> readThrottledReplicas(String text) throws ConfigException {
        List<String> replicas = ConfigKey.itemsOf(text);
        boolean valid = replicas.equals(List.of("*"))
                || replicas.stream()
                        .allMatch(replica -> THROTTLED_REPLICA.matcher(replica).matches());
        if (!valid) {
            throw new ConfigException("must be * or a list of partition:broker, such as 0:1,1:1");
        }
        return replicas;
    }
}
