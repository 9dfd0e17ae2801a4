package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The broker does not serve what the call needs. */
public final class UnsupportedByBrokerException extends JournalQException {
    public UnsupportedByBrokerException(String message) {
        this(message, null);
    }

    public UnsupportedByBrokerException(String message, Throwable cause) {
        super(message, ErrorCode.UNSUPPORTED_VERSION, false, cause);
    }
}
