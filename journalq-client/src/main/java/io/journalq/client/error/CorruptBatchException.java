package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** A batch from the broker does not match its checksum, or is not a record batch. */
public final class CorruptBatchException extends JournalQException {
    public CorruptBatchException(String message) {
        this(message, null);
    }

    public CorruptBatchException(String message, Throwable cause) {
        super(message, ErrorCode.CORRUPT_MESSAGE, true, cause);
    }
}
