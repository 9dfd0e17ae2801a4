package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The broker does not support an API, or a version of it, that the call needs. */
public final class UnsupportedByBrokerException extends JournalQException {
    public UnsupportedByBrokerException(String message) {
        this(message, null);
    }

    public UnsupportedByBrokerException(String message, Throwable cause) {
        super(message, ErrorCode.UNSUPPORTED_VERSION, false, cause);
    }
}
