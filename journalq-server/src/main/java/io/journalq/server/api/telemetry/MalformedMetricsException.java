package io.journalq.server.api.telemetry;

/** What a client sent as metrics is not in OpenTelemetry's format. */
final class MalformedMetricsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MalformedMetricsException(String message) {
        super(message);
    }
}
