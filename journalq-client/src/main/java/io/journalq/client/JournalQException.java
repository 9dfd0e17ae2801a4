package io.journalq.client;

import io.journalq.common.protocol.ErrorCode;

/**
 * Base of everything that this client throws on purpose. Unchecked; the message says what happened and what to do about
 * it.
 *
 * <p>{@link #retriable()} tells whether the same call may succeed later without any change. The producer has already
 * retried such errors until its delivery time-out when the application sees one.
 */
public class JournalQException extends RuntimeException {
    private final ErrorCode errorCode;
    private final boolean retriable;

    /**
     * An error with its cause.
     *
     * @param errorCode what the broker answered, or the nearest code for an error found by the client
     * @param retriable whether the same call may succeed later
     * @param cause null when there is none
     */
    public JournalQException(String message, ErrorCode errorCode, boolean retriable, Throwable cause) {
        super(message, cause);
        this.errorCode = errorCode;
        this.retriable = retriable;
    }

    /** Whether the same call may succeed later without any change. */
    public boolean retriable() {
        return retriable;
    }

    /** The protocol's error that the broker answered, or the nearest one when the client itself found the error. */
    public ErrorCode errorCode() {
        return errorCode;
    }
}
