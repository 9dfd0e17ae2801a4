package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** No broker could be reached, or the connection broke before the response arrived. */
public final class ConnectionFailedException extends JournalQException {
    public ConnectionFailedException(String message) {
        this(message, null);
    }

    public ConnectionFailedException(String message, Throwable cause) {
        super(message, ErrorCode.NETWORK_EXCEPTION, true, cause);
    }
}
