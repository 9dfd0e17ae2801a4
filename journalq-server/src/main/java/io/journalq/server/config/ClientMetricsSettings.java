package io.journalq.server.config;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Every setting of a client metrics subscription: which clients send which metrics, and how often (KIP-714). */
public final class ClientMetricsSettings {
    /** Attributes by which a subscription can select clients. */
    public static final List<String> SELECTORS = List.of(
            "client_instance_id",
            "client_id",
            "client_software_name",
            "client_software_version",
            "client_source_address",
            "client_source_port");

    /** In {@link #METRICS}: every metric. */
    public static final String EVERY_METRIC = "*";

    private static final int DEFAULT_INTERVAL_MS = 300_000;

    public static final ConfigKey<List<String>> METRICS = ConfigKey.ofList(
            "metrics",
            List.of(),
            "Prefixes of the names of the metrics that clients send. * selects all metrics, an empty list " + "none.");
    public static final ConfigKey<Integer> INTERVAL_MS = ConfigKey.ofInt(
            "interval.ms",
            ConfigUnit.MILLISECONDS,
            DEFAULT_INTERVAL_MS,
            100,
            3_600_000,
            "Interval at which clients push their metrics.");
    public static final ConfigKey<List<String>> MATCH = ConfigKey.ofList(
            "match",
            List.of(),
            "Which clients send metrics, as selector=pattern. All patterns must match completely. Selectors "
                    + "are client_instance_id, client_id, client_software_name, client_software_version, "
                    + "client_source_address and client_source_port. An empty list selects all clients.",
            ClientMetricsSettings::readSelector);

    public static final ConfigKeys ALL = new ConfigKeys(List.of(METRICS, INTERVAL_MS, MATCH));

    private ClientMetricsSettings() {}

    /**
     * The patterns of a {@link #MATCH}, by selector.
     *
     * @throws ConfigException when a selector is unknown or named twice
     */
    public static Map<String, String> patterns(List<String> selectors) throws ConfigException {
        Map<String, String> patterns = new TreeMap<>();
        for (String selector : selectors) {
            String name = nameOf(readSelector(selector));
            if (patterns.put(name, selector.substring(selector.indexOf('=') + 1).strip()) != null) {
                throw new ConfigException("Invalid value for " + MATCH + ": " + name + " is named twice");
            }
        }
        return patterns;
    }

    private static String nameOf(String selector) {
        int equals = selector.indexOf('=');
        return equals < 0 ? "" : selector.substring(0, equals).strip();
    }

    private static String readSelector(String text) throws ConfigException {
        if (!SELECTORS.contains(nameOf(text))) {
            throw new ConfigException("must be selector=pattern, with a selector of " + String.join(", ", SELECTORS));
        }
        return text;
    }
}
