package io.journalq.server.api.telemetry;

import io.journalq.server.api.HandlerRegistry;

/** Registers the handlers of the client metrics APIs. */
public final class TelemetryHandlers {
    private TelemetryHandlers() {}

    /** Registers the handlers. */
    public static void register(HandlerRegistry registry, Telemetry telemetry) {
        registry.register(new GetTelemetrySubscriptionsHandler(telemetry));
        registry.register(new PushTelemetryHandler(telemetry));
    }
}
