package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The producer, consumer or admin was closed, before the call or during it. */
public final class ClientClosedException extends JournalQException {
    public ClientClosedException(String message) {
        this(message, null);
    }

    public ClientClosedException(String message, Throwable cause) {
        super(message, ErrorCode.NETWORK_EXCEPTION, false, cause);
    }
}
