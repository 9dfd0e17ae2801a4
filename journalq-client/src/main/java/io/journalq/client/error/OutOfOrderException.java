package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The broker's memory of this producer does not fit what it sends: earlier records of the partition may be lost. */
public final class OutOfOrderException extends JournalQException {
    public OutOfOrderException(String message) {
        this(message, null);
    }

    public OutOfOrderException(String message, Throwable cause) {
        super(message, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, false, cause);
    }
}
