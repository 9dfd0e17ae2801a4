package io.journalq.server.api.telemetry;

import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.coordinator.BoundedPattern;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One client metrics subscription. Immutable.
 *
 * @param metrics prefixes of the names of its metrics
 * @param intervalMs interval between two pushes
 * @param patterns patterns that must match, by selector
 */
record TelemetrySubscription(List<String> metrics, int intervalMs, Map<String, BoundedPattern> patterns) {
    /** Selects no client. Used for a subscription that this release cannot parse. */
    private static final TelemetrySubscription OF_NOBODY =
            new TelemetrySubscription(List.of(), ClientMetricsSettings.INTERVAL_MS.defaultValue(), Map.of());

    /** @param configs texts by name, which were checked when they were set, possibly by another release */
    static TelemetrySubscription of(Map<String, String> configs) {
        try {
            Map<String, BoundedPattern> patterns = new TreeMap<>();
            ClientMetricsSettings.patterns(value(configs, ClientMetricsSettings.MATCH))
                    .forEach((selector, pattern) -> patterns.put(selector, BoundedPattern.compile(pattern)));
            return new TelemetrySubscription(
                    value(configs, ClientMetricsSettings.METRICS),
                    value(configs, ClientMetricsSettings.INTERVAL_MS),
                    patterns);
        } catch (ConfigException | IllegalArgumentException ofAnotherRelease) {
            return OF_NOBODY;
        }
    }

    private static <T> T value(Map<String, String> configs, ConfigKey<T> key) throws ConfigException {
        String text = configs.get(key.name());
        return text == null ? key.defaultValue() : key.parse(text);
    }

    boolean selects(ClientAttributes client) {
        return patterns.entrySet().stream()
                .allMatch(pattern -> pattern.getValue().matches(client.of(pattern.getKey())));
    }
}
