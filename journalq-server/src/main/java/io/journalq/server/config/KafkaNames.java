package io.journalq.server.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Settings that have other names in Kafka. Clients can set, delete and describe such a setting under our name or
 * Kafka's. Only the value under our name is stored. Immutable, any thread.
 *
 * <p>Source: {@code ServerTopicConfigSynonyms} and {@code LogConfig} of Kafka 4.3.
 */
public final class KafkaNames {
    private static final long MINUTE_MS = 60_000L;
    private static final long HOUR_MS = 3_600_000L;

    /** Prefix of settings that Kafka does not show to clients, because they are for its own tests. */
    private static final String INTERNAL_PREFIX = "internal.";

    /** Names of topic settings. */
    public static final KafkaNames OF_TOPICS = new KafkaNames(List.of(
            new Name("flush.ms", TopicSettings.FLUSH_INTERVAL_MS, 1),
            new Name(INTERNAL_PREFIX + "segment.bytes", TopicSettings.SEGMENT_BYTES, 1)));

    /** Names of broker settings. */
    public static final KafkaNames OF_BROKERS = new KafkaNames(List.of(
            new Name("log.dirs", BrokerSettings.DATA_DIRECTORIES, 1),
            new Name("log.dir", BrokerSettings.DATA_DIRECTORIES, 1),
            new Name("log.cleanup.policy", TopicSettings.CLEANUP_POLICY, 1),
            new Name("log.cleaner.min.cleanable.ratio", TopicSettings.MIN_CLEANABLE_DIRTY_RATIO, 1),
            new Name("log.cleaner.min.compaction.lag.ms", TopicSettings.MIN_COMPACTION_LAG_MS, 1),
            new Name("log.cleaner.max.compaction.lag.ms", TopicSettings.MAX_COMPACTION_LAG_MS, 1),
            new Name("log.cleaner.delete.retention.ms", TopicSettings.DELETE_RETENTION_MS, 1),
            new Name("log.flush.interval.ms", TopicSettings.FLUSH_INTERVAL_MS, 1),
            new Name("log.flush.scheduler.interval.ms", TopicSettings.FLUSH_INTERVAL_MS, 1),
            new Name("log.flush.interval.messages", TopicSettings.FLUSH_MESSAGES, 1),
            new Name("log.retention.ms", TopicSettings.RETENTION_MS, 1),
            new Name("log.retention.minutes", TopicSettings.RETENTION_MS, MINUTE_MS),
            new Name("log.retention.hours", TopicSettings.RETENTION_MS, HOUR_MS),
            new Name("log.retention.bytes", TopicSettings.RETENTION_BYTES, 1),
            new Name("log.segment.bytes", TopicSettings.SEGMENT_BYTES, 1),
            new Name("log.segment.delete.delay.ms", TopicSettings.FILE_DELETE_DELAY_MS, 1),
            new Name("log.roll.ms", TopicSettings.SEGMENT_MS, 1),
            new Name("log.roll.hours", TopicSettings.SEGMENT_MS, HOUR_MS),
            new Name("log.roll.jitter.ms", TopicSettings.SEGMENT_JITTER_MS, 1),
            new Name("log.roll.jitter.hours", TopicSettings.SEGMENT_JITTER_MS, HOUR_MS),
            new Name("log.index.interval.bytes", TopicSettings.INDEX_INTERVAL_BYTES, 1),
            new Name("log.index.size.max.bytes", TopicSettings.SEGMENT_INDEX_BYTES, 1),
            new Name("message.max.bytes", TopicSettings.MAX_MESSAGE_BYTES, 1),
            new Name("log.message.timestamp.type", TopicSettings.MESSAGE_TIMESTAMP_TYPE, 1),
            new Name("log.message.timestamp.before.max.ms", TopicSettings.TIMESTAMP_BEFORE_MAX_MS, 1),
            new Name("log.message.timestamp.after.max.ms", TopicSettings.TIMESTAMP_AFTER_MAX_MS, 1),
            new Name("log.preallocate", TopicSettings.PREALLOCATE, 1),
            new Name("log.local.retention.ms", TopicSettings.LOCAL_RETENTION_MS, 1),
            new Name("log.local.retention.bytes", TopicSettings.LOCAL_RETENTION_BYTES, 1)));

    /** For resources whose settings have the same names in Kafka, or do not exist there. */
    public static final KafkaNames NONE = new KafkaNames(List.of());

    private final Map<String, Name> byName = new TreeMap<>();
    private final Map<String, List<Name>> shownByOurName = new TreeMap<>();

    private KafkaNames(List<Name> names) {
        for (Name name : names) {
            byName.put(name.name(), name);
            if (!name.name().startsWith(INTERNAL_PREFIX)) {
                shownByOurName
                        .computeIfAbsent(name.key().name(), ours -> new ArrayList<>())
                        .add(name);
            }
        }
    }

    /**
     * One of Kafka's names.
     *
     * @param key our setting
     * @param factor number of our units in one unit of Kafka's setting
     */
    public record Name(String name, ConfigKey<?> key, long factor) {
        /** Converts our value to Kafka's unit; null if it is not a whole number there. */
        public String kafkaText(String ourText) {
            if (factor == 1) {
                return ourText;
            }
            try {
                long value = Long.parseLong(ourText);
                if (value < 0) {
                    return ourText;
                }
                return value % factor == 0 ? Long.toString(value / factor) : null;
            } catch (NumberFormatException ofAnotherRelease) {
                return null;
            }
        }

        /**
         * Converts Kafka's value to our unit.
         *
         * @throws ConfigException when it is not a whole number of Kafka's unit
         */
        String ourText(String kafkaText) throws ConfigException {
            if (factor == 1) {
                return kafkaText;
            }
            try {
                long value = Long.parseLong(kafkaText.strip());
                // A negative value is not an amount of time: -1 means none in every unit.
                return Long.toString(value < 0 ? value : Math.multiplyExact(value, factor));
            } catch (NumberFormatException | ArithmeticException wrong) {
                throw new ConfigException("Invalid value '" + kafkaText + "' for " + name
                        + ": must be a whole number, less than " + Long.MAX_VALUE / factor);
            }
        }
    }

    /**
     * The name of our setting for the name that a client uses; {@code name} itself if it is not one of Kafka's other
     * names.
     */
    public String ourName(String name) {
        Name kafkas = byName.get(name);
        return kafkas == null ? name : kafkas.key().name();
    }

    /**
     * The value of our setting when a client sets {@code name}, which may be Kafka's name, to {@code text}.
     *
     * @throws ConfigException when the text is not a value in Kafka's unit
     */
    public String ourText(String name, String text) throws ConfigException {
        Name kafkas = byName.get(name);
        return kafkas == null ? text : kafkas.ourText(text);
    }

    /** Kafka's other names for {@code key} that are shown to clients, in documented order. */
    public List<Name> shownOf(ConfigKey<?> key) {
        return Collections.unmodifiableList(shownByOurName.getOrDefault(key.name(), List.of()));
    }
}
