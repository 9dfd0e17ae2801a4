package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The base class of the exceptions of this client. The message states the error and what to do about it.
 *
 * <p>If {@link #retriable()} is true, the same call can succeed later. The client has already retried such errors
 * within the timeout of the call.
 */
public class JournalQException extends RuntimeException {
    private final ErrorCode errorCode;
    private final boolean retriable;

    /**
     * Creates an exception.
     *
     * @param errorCode the error code of the broker, or the closest one if the client detected the error
     * @param retriable whether the same call can succeed later
     * @param cause the cause, or null
     */
    public JournalQException(String message, ErrorCode errorCode, boolean retriable, Throwable cause) {
        super(message, cause);
        this.errorCode = errorCode;
        this.retriable = retriable;
    }

    /** Whether the same call can succeed later without a change. */
    public boolean retriable() {
        return retriable;
    }

    /** The error code of the broker, or the closest one if the client detected the error. */
    public ErrorCode errorCode() {
        return errorCode;
    }
}
