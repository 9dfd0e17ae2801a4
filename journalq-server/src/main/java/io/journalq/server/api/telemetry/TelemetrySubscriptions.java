package io.journalq.server.api.telemetry;

import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceConfigs;
import io.journalq.server.metadata.ResourceId.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/** All client metrics subscriptions of the newest metadata image. Any thread. */
final class TelemetrySubscriptions {
    private final Supplier<MetadataImage> images;
    private volatile Parsed parsed = new Parsed(ResourceConfigs.NONE, List.of());

    /** The parsed subscriptions of one image. */
    private record Parsed(ResourceConfigs of, List<TelemetrySubscription> all) {}

    /**
     * The metrics that one client sends, according to all subscriptions that select it.
     *
     * @param id changes when the other components change
     */
    record Selected(int id, List<String> metrics, int intervalMs) {}

    TelemetrySubscriptions(Supplier<MetadataImage> images) {
        this.images = images;
    }

    Selected select(ClientAttributes client) {
        SortedSet<String> metrics = new TreeSet<>();
        int intervalMs = Integer.MAX_VALUE;
        for (TelemetrySubscription subscription : current()) {
            if (subscription.selects(client)) {
                metrics.addAll(subscription.metrics());
                intervalMs = Math.min(intervalMs, subscription.intervalMs());
            }
        }
        if (intervalMs == Integer.MAX_VALUE) {
            intervalMs = ClientMetricsSettings.INTERVAL_MS.defaultValue();
        }
        List<String> names = metrics.contains(ClientMetricsSettings.EVERY_METRIC)
                ? List.of(ClientMetricsSettings.EVERY_METRIC)
                : List.copyOf(metrics);
        CRC32C id = new CRC32C();
        id.update((client.instanceId() + " " + intervalMs + " " + names).getBytes(StandardCharsets.UTF_8));
        return new Selected((int) id.getValue(), names, intervalMs);
    }

    private List<TelemetrySubscription> current() {
        ResourceConfigs newest = images.get().resources();
        Parsed known = parsed;
        if (known.of() != newest) {
            known = new Parsed(
                    newest,
                    newest.ofKind(Kind.CLIENT_METRICS).values().stream()
                            .map(TelemetrySubscription::of)
                            .toList());
            parsed = known;
        }
        return known.all();
    }
}
