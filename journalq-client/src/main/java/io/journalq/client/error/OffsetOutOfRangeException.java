package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** A consumer's position is outside what the partition holds. */
public final class OffsetOutOfRangeException extends JournalQException {
    public OffsetOutOfRangeException(String message) {
        this(message, null);
    }

    public OffsetOutOfRangeException(String message, Throwable cause) {
        super(message, ErrorCode.OFFSET_OUT_OF_RANGE, false, cause);
    }
}
