package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The position of a consumer is outside the offsets of the partition. */
public final class OffsetOutOfRangeException extends JournalQException {
    public OffsetOutOfRangeException(String message) {
        this(message, null);
    }

    public OffsetOutOfRangeException(String message, Throwable cause) {
        super(message, ErrorCode.OFFSET_OUT_OF_RANGE, false, cause);
    }
}
