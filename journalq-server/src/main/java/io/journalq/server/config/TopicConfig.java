package io.journalq.server.config;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** A topic's settings: what it overrides, and the broker's defaults for the rest. Immutable. */
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
     * @param overrides texts by name, as the metadata log holds them. What this version does not know or would refuse is
     *     left out: it was checked when it was set, by {@link #check}, maybe by another version
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
     * Accepts a setting that a client asks for.
     *
     * @throws ConfigException when a topic has no such setting, with the nearest one, or when the value is not one of it
     */
    public static void check(String name, String value) throws ConfigException {
        TopicSettings.ALL.get(name).parse(value);
    }

    /** The value of one of {@link TopicSettings}' keys. */
    @SuppressWarnings("unchecked") // of() puts only what the key itself read
    public <T> T get(ConfigKey<T> key) {
        Object override = overrides.get(key.name());
        return override == null ? defaults.get(key) : (T) override;
    }
}
