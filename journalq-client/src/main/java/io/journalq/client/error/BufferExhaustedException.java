package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The producer's buffer memory stayed full for longer than the sender may block. */
public final class BufferExhaustedException extends JournalQException {
    public BufferExhaustedException(String message) {
        this(message, null);
    }

    public BufferExhaustedException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
