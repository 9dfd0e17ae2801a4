package io.journalq.server.config;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A broker's settings, every one with a value and where it came from. Immutable. {@link BrokerConfigLoader} makes it. */
public final class BrokerConfig {
    private final Map<String, Setting> settingByName;

    /**
     * @param value as its key reads it
     * @param origin what set it
     */
    private record Setting(Object value, ConfigOrigin origin) {}

    private BrokerConfig(Map<String, Setting> settingByName) {
        this.settingByName = Collections.unmodifiableMap(settingByName);
    }

    /** Every setting at its default. */
    public static BrokerConfig defaults() {
        Map<String, Setting> settings = new LinkedHashMap<>();
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            settings.put(key.name(), new Setting(key.defaultValue(), ConfigOrigin.DEFAULT));
        }
        return new BrokerConfig(settings);
    }

    /**
     * The same with one setting changed.
     *
     * @throws ConfigException when there is no such key, with the nearest one, or when the value is not one of it
     */
    public BrokerConfig with(String name, String value, ConfigOrigin origin) throws ConfigException {
        String ours = KafkaNames.OF_BROKERS.ourName(name);
        if (!ours.equals(name)) {
            throw new ConfigException("'" + name + "' is Kafka's name for '" + ours + "': use that one");
        }
        ConfigKey<?> key = BrokerSettings.ALL.get(name);
        Map<String, Setting> changed = new LinkedHashMap<>(settingByName);
        changed.put(name, new Setting(key.parse(value), origin));
        return new BrokerConfig(changed);
    }

    /** The value of {@code key}. */
    @SuppressWarnings("unchecked") // with() puts only what the key itself read
    public <T> T get(ConfigKey<T> key) {
        return (T) settingByName.get(key.name()).value();
    }

    /** The value in its canonical text. */
    public String text(ConfigKey<?> key) {
        return key.format(settingByName.get(key.name()).value());
    }

    /** What set {@code key}. */
    public ConfigOrigin origin(ConfigKey<?> key) {
        return settingByName.get(key.name()).origin();
    }

    /** Listeners to bind. */
    public List<ListenerAddress> listeners() {
        return addresses(BrokerSettings.LISTENERS);
    }

    /** Addresses to advertise; empty when they follow the listeners. */
    public List<ListenerAddress> advertisedListeners() {
        return addresses(BrokerSettings.ADVERTISED_LISTENERS);
    }

    /** Where metrics and health are served; empty for nowhere. */
    public Optional<ListenerAddress> adminListener() {
        String text = get(BrokerSettings.ADMIN_LISTENER);
        return text.isEmpty() ? Optional.empty() : Optional.of(knownGood(text));
    }

    /** Folders of the journals, at least one. */
    public List<Path> dataDirectories() {
        return get(BrokerSettings.DATA_DIRECTORIES).stream().map(Path::of).toList();
    }

    /** The settings of a topic that overrides nothing. */
    public TopicConfig topicDefaults() {
        return TopicConfig.of(this, Map.of());
    }

    private List<ListenerAddress> addresses(ConfigKey<List<String>> key) {
        return get(key).stream().map(BrokerConfig::knownGood).toList();
    }

    private static ListenerAddress knownGood(String text) {
        try {
            return ListenerAddress.parse(text);
        } catch (ConfigException impossible) {
            throw new IllegalStateException("the key let a bad listener pass", impossible);
        }
    }
}
