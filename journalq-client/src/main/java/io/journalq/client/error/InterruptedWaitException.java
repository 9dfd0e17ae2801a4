package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The calling thread was interrupted while it waited. Its interrupt flag is set. */
public final class InterruptedWaitException extends JournalQException {
    public InterruptedWaitException(String message) {
        this(message, null);
    }

    public InterruptedWaitException(String message, Throwable cause) {
        super(message, ErrorCode.UNKNOWN_SERVER_ERROR, true, cause);
    }
}
