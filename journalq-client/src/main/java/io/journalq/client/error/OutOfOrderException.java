package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The sequence number of a batch does not match the state that the broker has for this producer. Earlier records of the
 * partition may be lost.
 */
public final class OutOfOrderException extends JournalQException {
    public OutOfOrderException(String message) {
        this(message, null);
    }

    public OutOfOrderException(String message, Throwable cause) {
        super(message, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, false, cause);
    }
}
