package io.journalq.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Every setting of a topic. The broker's settings hold one of the same name for each: the default of topics that do not
 * set it.
 */
public final class TopicSettings {
    private static final long DAY_MS = 86_400_000L;
    private static final long WEEK_MS = 604_800_000L;

    private static final Pattern THROTTLED_REPLICA = Pattern.compile("\\d+:\\d+");

    /** How the documentation of each setting begins that is kept and does nothing. */
    private static final String NO_EFFECT = "Accepted for scripts that are written for Kafka, without effect: ";

    /** Item of {@link #CLEANUP_POLICY}. */
    public static final String POLICY_DELETE = "delete";

    /** Item of {@link #CLEANUP_POLICY}. */
    public static final String POLICY_COMPACT = "compact";

    /** Value of {@link #COMPRESSION_TYPE}: batches are kept as they came. */
    public static final String COMPRESSION_OF_PRODUCER = "producer";

    public static final ConfigKey<List<String>> CLEANUP_POLICY = ConfigKey.ofList(
                    "cleanup.policy",
                    List.of(POLICY_DELETE),
                    "What happens to old messages; one of these, or both. delete: whole segments go when retention"
                            + " says so. compact: of the messages with the same key only the newest stays, and every"
                            + " message needs a key.",
                    ConfigKey.choiceOf(List.of(POLICY_COMPACT, POLICY_DELETE)))
            .atLeastOneItem();
    public static final ConfigKey<Double> MIN_CLEANABLE_DIRTY_RATIO = ConfigKey.ofFraction(
            "min.cleanable.dirty.ratio",
            0.5,
            "Part of a compacted partition's closed segments that must be new before it is compacted again.");
    public static final ConfigKey<Long> MIN_COMPACTION_LAG_MS = ConfigKey.ofLong(
            "min.compaction.lag.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "How long a message stays at least before compaction may take it away.");
    public static final ConfigKey<Long> MAX_COMPACTION_LAG_MS = ConfigKey.ofLong(
            "max.compaction.lag.ms",
            ConfigUnit.MILLISECONDS,
            Long.MAX_VALUE,
            1L,
            Long.MAX_VALUE,
            "A message waits no longer than about this for compaction, whatever min.cleanable.dirty.ratio says.");
    public static final ConfigKey<Long> DELETE_RETENTION_MS = ConfigKey.ofLong(
            "delete.retention.ms",
            ConfigUnit.MILLISECONDS,
            DAY_MS,
            0L,
            Long.MAX_VALUE,
            "How long a message without a value, which deletes its key, stays after its first compaction.");
    public static final ConfigKey<String> DELIVERY_MODE = ConfigKey.ofChoice(
            "delivery.mode",
            "eventual",
            List.of("eventual", "consistent", "performance"),
            "When a message is acknowledged. eventual: in the page cache, synced within flush.interval.ms;"
                    + " consistent: synced to disk; performance: in memory, written within write.interval.ms, so that a"
                    + " killed broker loses what is not written.");
    public static final ConfigKey<Long> WRITE_INTERVAL_MS = ConfigKey.ofLong(
            "write.interval.ms",
            ConfigUnit.MILLISECONDS,
            10L,
            1L,
            60_000L,
            "In delivery mode performance a message is written, and seen by consumers, within this time.");
    public static final ConfigKey<Long> FLUSH_INTERVAL_MS = ConfigKey.ofLong(
            "flush.interval.ms",
            ConfigUnit.MILLISECONDS,
            1_000L,
            0L,
            Long.MAX_VALUE,
            "A written message is synced to disk within this time; 0 counts as 1 ms, more than 7 days as 7 days. Kafka's"
                    + " name for it, flush.ms, is accepted too.");
    public static final ConfigKey<Long> FLUSH_MESSAGES = ConfigKey.ofLong(
            "flush.messages",
            ConfigUnit.NONE,
            Long.MAX_VALUE,
            1L,
            Long.MAX_VALUE,
            "1: a message is acknowledged only when it is synced to disk, as with delivery.mode=consistent and whatever"
                    + " delivery.mode says. Any other number has no effect: flush.interval.ms says when to sync.");
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
    public static final ConfigKey<Long> SEGMENT_JITTER_MS = ConfigKey.ofLong(
            "segment.jitter.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "A segment is closed up to this much before segment.ms, each by another part of it, so that partitions that"
                    + " were created together do not all close theirs together.");
    public static final ConfigKey<Integer> SEGMENT_INDEX_BYTES = ConfigKey.ofInt(
            "segment.index.bytes",
            ConfigUnit.BYTES,
            10 << 20,
            4,
            Integer.MAX_VALUE,
            "A segment is closed when its offset index has this size; an entry takes 16 bytes.");
    public static final ConfigKey<Long> FILE_DELETE_DELAY_MS = ConfigKey.ofLong(
            "file.delete.delay.ms",
            ConfigUnit.MILLISECONDS,
            0L,
            0L,
            Long.MAX_VALUE,
            "How long the files of a deleted topic, and of segments that retention or DeleteRecords deleted, stay on the"
                    + " disk, renamed, before they are removed. A restart removes them at once. Consumers that are reading"
                    + " a deleted segment need no delay.");
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
    public static final ConfigKey<Integer> MAX_DECOMPRESSED_BYTES = ConfigKey.ofInt(
            "max.decompressed.bytes",
            ConfigUnit.BYTES,
            32 << 20,
            1 << 10,
            1 << 30,
            "Largest batch of messages once it is decompressed; a limit below max.message.bytes counts as that.");
    public static final ConfigKey<Integer> MAX_MESSAGE_HEADERS = ConfigKey.ofInt(
            "max.message.headers", ConfigUnit.NONE, 10_000, 0, 10_000_000, "Most headers of one message.");
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
            "compression.type",
            COMPRESSION_OF_PRODUCER,
            List.of(COMPRESSION_OF_PRODUCER, "uncompressed", "none", "gzip", "snappy", "lz4", "zstd"),
            "How batches are kept. producer: as they came; a codec: in that one, which the broker recompresses them to,"
                    + " at the cost of its processor; uncompressed, or none: without.");
    public static final ConfigKey<Integer> MIN_INSYNC_REPLICAS = ConfigKey.ofInt(
            "min.insync.replicas",
            ConfigUnit.NONE,
            1,
            1,
            1,
            "Replicas that must have a message before acks=all is answered; 1, as there is one broker.");

    private static final String FOR_TIERED_STORAGE = NO_EFFECT + "there is no tiered storage.";
    private static final String FOR_REPLICATION = NO_EFFECT + "a partition has one replica.";
    private static final String FOR_CODEC_LEVELS = NO_EFFECT + "each codec compresses at its own default level.";

    public static final ConfigKey<Boolean> PREALLOCATE =
            ConfigKey.ofBoolean("preallocate", false, NO_EFFECT + "files grow as they are written.");
    public static final ConfigKey<Long> LOCAL_RETENTION_MS = ConfigKey.ofLong(
            "local.retention.ms", ConfigUnit.MILLISECONDS, -2L, -2L, Long.MAX_VALUE, FOR_TIERED_STORAGE);
    public static final ConfigKey<Long> LOCAL_RETENTION_BYTES =
            ConfigKey.ofLong("local.retention.bytes", ConfigUnit.BYTES, -2L, -2L, Long.MAX_VALUE, FOR_TIERED_STORAGE);

    /**
     * Settings of Kafka's topics that have no effect here. They are read, checked and kept as Kafka does, so that scripts
     * written for Kafka create their topics. They come last in {@link #ALL}.
     */
    public static final ConfigKeys WITHOUT_EFFECT = new ConfigKeys(List.of(
            ConfigKey.ofInt("compression.gzip.level", ConfigUnit.NONE, -1, -1, 9, FOR_CODEC_LEVELS)
                    .checkedAfter(TopicSettings::checkGzipLevel),
            ConfigKey.ofInt("compression.lz4.level", ConfigUnit.NONE, 9, 1, 17, FOR_CODEC_LEVELS),
            ConfigKey.ofInt("compression.zstd.level", ConfigUnit.NONE, 3, -131_072, 22, FOR_CODEC_LEVELS),
            PREALLOCATE,
            ConfigKey.ofBoolean("unclean.leader.election.enable", false, FOR_REPLICATION),
            ConfigKey.ofList("leader.replication.throttled.replicas", List.of(), FOR_REPLICATION)
                    .checkedBy(TopicSettings::readThrottledReplicas),
            ConfigKey.ofList("follower.replication.throttled.replicas", List.of(), FOR_REPLICATION)
                    .checkedBy(TopicSettings::readThrottledReplicas),
            ConfigKey.ofBoolean("remote.storage.enable", false, FOR_TIERED_STORAGE),
            ConfigKey.ofBoolean("remote.log.copy.disable", false, FOR_TIERED_STORAGE),
            ConfigKey.ofBoolean("remote.log.delete.on.disable", false, FOR_TIERED_STORAGE),
            LOCAL_RETENTION_MS,
            LOCAL_RETENTION_BYTES));

    public static final ConfigKeys ALL = all();

    private TopicSettings() {}

    /** Whether a topic, or a broker, that sets this changes nothing by it. */
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
                MIN_INSYNC_REPLICAS));
        keys.addAll(WITHOUT_EFFECT.all());
        return new ConfigKeys(keys);
    }

    private static void checkGzipLevel(int level) throws ConfigException {
        if (level == 0) {
            throw new ConfigException("must be -1, or from 1 to 9");
        }
    }

    /** As Kafka reads such a list: every item is partition:broker, or the only one is an asterisk. */
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
