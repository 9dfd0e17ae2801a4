package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The broker did not answer within the request time-out. */
public final class RequestTimedOutException extends JournalQException {
    public RequestTimedOutException(String message) {
        this(message, null);
    }

    public RequestTimedOutException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
