package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The calling thread was interrupted while it waited; its interrupt flag is set again. */
public final class InterruptedWaitException extends JournalQException {
    public InterruptedWaitException(String message) {
        this(message, null);
    }

    public InterruptedWaitException(String message, Throwable cause) {
        super(message, ErrorCode.UNKNOWN_SERVER_ERROR, true, cause);
    }
}
