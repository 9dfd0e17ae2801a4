package io.journalq.server.api.telemetry;

import io.journalq.server.api.HandlerRegistry;

/** Registers the handlers of the APIs for the metrics that clients send. */
public final class TelemetryHandlers {
    private TelemetryHandlers() {}

    /** Registers them. */
    public static void register(HandlerRegistry registry, Telemetry telemetry) {
        registry.register(new GetTelemetrySubscriptionsHandler(telemetry));
        registry.register(new PushTelemetryHandler(telemetry));
    }
}
