package io.journalq.server.config;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** The settings of a topic: its overrides, and the broker's defaults for all others. Immutable. */
public final class TopicConfig {
    private final BrokerConfig defaults;
    private final Map<String, Object> overrides;

    private TopicConfig(BrokerConfig defaults, Map<String, Object> overrides) {
        this.defaults = defaults;
        this.overrides = overrides;
    }

    /**
     * The settings of a topic.
     *
     * @param overrides texts by name, as in the metadata log. Unknown and invalid overrides are ignored: {@link #check}
     *     accepted them when they were set, possibly in another release
     */
    public static TopicConfig of(BrokerConfig defaults, Map<String, String> overrides) {
        Map<String, Object> values = new TreeMap<>();
        overrides.forEach((name, text) -> {
            try {
                values.put(name, TopicSettings.ALL.get(name).parse(text));
            } catch (ConfigException unknownHere) {
                values.remove(name);
            }
        });
        return new TopicConfig(defaults, Collections.unmodifiableMap(values));
    }

    /**
     * Checks a setting from a client.
     *
     * @throws ConfigException when topics have no such setting, with the nearest one, or when the value is invalid
     */
    public static void check(String name, String value) throws ConfigException {
        TopicSettings.ALL.get(name).parse(value);
    }

    /**
     * Checks settings of a topic that depend on each other. The defaults of brokers do not count, because brokers can
     * have different ones.
     *
     * @param overrides valid texts by name
     * @throws ConfigException when two settings contradict each other
     */
    public static void checkTogether(Map<String, String> overrides) throws ConfigException {
        String min = overrides.get(TopicSettings.MIN_COMPACTION_LAG_MS.name());
        String max = overrides.get(TopicSettings.MAX_COMPACTION_LAG_MS.name());
        if (min != null
                && max != null
                && TopicSettings.MIN_COMPACTION_LAG_MS.parse(min) > TopicSettings.MAX_COMPACTION_LAG_MS.parse(max)) {
            throw new ConfigException("min.compaction.lag.ms (" + min + ") must not exceed max.compaction.lag.ms ("
                    + max + "): records would have to be compacted before they may be");
        }
    }

    /**
     * The canonical text of a setting: a plain number instead of one with a unit, as Kafka's clients read it. The value
     * of a setting that this release does not have stays as it is.
     */
    public static String canonical(String name, String text) {
        ConfigKey<?> key = TopicSettings.ALL.find(name);
        return key == null ? text : key.canonical(text);
    }

    /** The value of one of {@link TopicSettings}' keys. */
    @SuppressWarnings("unchecked") // of() stores only what the key itself parsed
    public <T> T get(ConfigKey<T> key) {
        Object override = overrides.get(key.name());
        return override == null ? defaults.get(key) : (T) override;
    }
}
