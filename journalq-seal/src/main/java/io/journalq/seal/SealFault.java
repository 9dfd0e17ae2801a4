package io.journalq.seal;

import io.journalq.client.error.SealViolationException.Reason;

/** Bytes that are not what they should be. The opener adds where they were found. */
final class SealFault extends RuntimeException {
    private final Reason reason;

    SealFault(Reason reason, String message) {
        this(reason, message, null);
    }

    SealFault(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}
