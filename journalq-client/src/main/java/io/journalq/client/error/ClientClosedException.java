package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The producer, consumer or admin was closed before or during the call. */
public final class ClientClosedException extends JournalQException {
    public ClientClosedException(String message) {
        this(message, null);
    }

    public ClientClosedException(String message, Throwable cause) {
        super(message, ErrorCode.NETWORK_EXCEPTION, false, cause);
    }
}
