package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The buffer memory of the producer was full for longer than a send may block. */
public final class BufferExhaustedException extends JournalQException {
    public BufferExhaustedException(String message) {
        this(message, null);
    }

    public BufferExhaustedException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
