package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** A record or batch is larger than the client or the broker allows. */
public final class RecordTooLargeException extends JournalQException {
    public RecordTooLargeException(String message) {
        this(message, null);
    }

    public RecordTooLargeException(String message, Throwable cause) {
        super(message, ErrorCode.MESSAGE_TOO_LARGE, false, cause);
    }
}
