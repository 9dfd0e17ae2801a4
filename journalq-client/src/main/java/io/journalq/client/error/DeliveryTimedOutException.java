package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** A record was not acknowledged within the delivery time-out, retries included. It may or may not be in the journal. */
public final class DeliveryTimedOutException extends JournalQException {
    public DeliveryTimedOutException(String message) {
        this(message, null);
    }

    public DeliveryTimedOutException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
