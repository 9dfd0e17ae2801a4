package io.journalq.server.config;

import java.util.List;
import java.util.Map;

/**
 * Every setting of a group. Each one has a broker setting that applies to groups without it. The settings are those of
 * Kafka's consumer protocol (KIP-1072).
 */
public final class GroupSettings {
    public static final ConfigKey<Integer> SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "consumer.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            45_000,
            1,
            Integer.MAX_VALUE,
            "Session timeout of members of the consumer protocol. A member without a heartbeat for this "
                    + "time is removed.");
    public static final ConfigKey<Integer> HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "consumer.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Heartbeat interval of members of the consumer protocol.");
    public static final ConfigKey<Integer> ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "consumer.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Minimum time between two assignments of a group of the consumer protocol. Changes in the "
                    + "meantime go into the second assignment.");

    public static final ConfigKeys ALL =
            new ConfigKeys(List.of(SESSION_TIMEOUT_MS, HEARTBEAT_INTERVAL_MS, ASSIGNMENT_INTERVAL_MS));

    private GroupSettings() {}

    /** The broker setting that applies to groups without {@code key}, one of {@link #ALL}. */
    @SuppressWarnings("unchecked") // every setting of a group is an integer, and so is the broker setting
    public static ConfigKey<Integer> ofBroker(ConfigKey<?> key) {
        return (ConfigKey<Integer>) BrokerSettings.ALL.find("group." + key.name());
    }

    /**
     * Returns the fault in the settings of a group; null if there is none.
     *
     * @param broker provides the valid ranges
     * @param configs texts by name, all settings of the group
     */
    public static String problem(BrokerConfig broker, Map<String, String> configs) {
        try {
            int sessionTimeoutMs = value(broker, configs, SESSION_TIMEOUT_MS);
            int heartbeatIntervalMs = value(broker, configs, HEARTBEAT_INTERVAL_MS);
            for (Map.Entry<String, String> config : configs.entrySet()) {
                ALL.parse(config.getKey(), config.getValue());
                checkRange(broker, config.getKey(), config.getValue());
            }
            return heartbeatIntervalMs < sessionTimeoutMs
                    ? null
                    : SESSION_TIMEOUT_MS + " (" + sessionTimeoutMs + ") must be greater than " + HEARTBEAT_INTERVAL_MS
                            + " (" + heartbeatIntervalMs + ")";
        } catch (ConfigException wrong) {
            return wrong.getMessage();
        }
    }

    /**
     * The value that applies to a group. It is limited to the broker's current range, because it may have been set
     * under another range.
     *
     * @param configs texts by name, all settings of the group; invalid values count as not set
     */
    public static int effective(BrokerConfig broker, Map<String, String> configs, ConfigKey<Integer> key) {
        try {
            if (configs.containsKey(key.name())) {
                int set = key.parse(configs.get(key.name()));
                return Math.max(broker.get(lowest(key)), Math.min(set, broker.get(highest(key))));
            }
        } catch (ConfigException ofAnotherRelease) {
            // Checked when it was set, possibly by a newer release.
        }
        return broker.get(ofBroker(key));
    }

    private static int value(BrokerConfig broker, Map<String, String> configs, ConfigKey<Integer> key)
            throws ConfigException {
        String text = configs.get(key.name());
        return text == null ? broker.get(ofBroker(key)) : key.parse(text);
    }

    private static void checkRange(BrokerConfig broker, String name, String text) throws ConfigException {
        for (ConfigKey<Integer> key : List.of(SESSION_TIMEOUT_MS, HEARTBEAT_INTERVAL_MS, ASSIGNMENT_INTERVAL_MS)) {
            if (key.name().equals(name)) {
                int value = key.parse(text);
                if (value < broker.get(lowest(key))) {
                    throw new ConfigException(name + " must be greater than or equal to " + lowest(key) + " ("
                            + broker.get(lowest(key)) + ")");
                }
                if (value > broker.get(highest(key))) {
                    throw new ConfigException(name + " must be less than or equal to " + highest(key) + " ("
                            + broker.get(highest(key)) + ")");
                }
            }
        }
    }

    private static ConfigKey<Integer> lowest(ConfigKey<Integer> key) {
        return bound(key, "min");
    }

    private static ConfigKey<Integer> highest(ConfigKey<Integer> key) {
        return bound(key, "max");
    }

    @SuppressWarnings("unchecked") // as in ofBroker
    private static ConfigKey<Integer> bound(ConfigKey<Integer> key, String which) {
        String protocol = "consumer.";
        return (ConfigKey<Integer>) BrokerSettings.ALL.find(
                "group." + protocol + which + "." + key.name().substring(protocol.length()));
    }
}
