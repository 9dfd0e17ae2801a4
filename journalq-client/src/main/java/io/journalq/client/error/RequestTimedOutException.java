package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The broker did not respond within the request timeout. */
public final class RequestTimedOutException extends JournalQException {
    public RequestTimedOutException(String message) {
        this(message, null);
    }

    public RequestTimedOutException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
