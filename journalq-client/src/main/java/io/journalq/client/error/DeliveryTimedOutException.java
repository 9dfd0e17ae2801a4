package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * A record was not acknowledged within {@code deliveryTimeout}, including retries. It is unknown whether the record
 * is in the log.
 */
public final class DeliveryTimedOutException extends JournalQException {
    public DeliveryTimedOutException(String message) {
        this(message, null);
    }

    public DeliveryTimedOutException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, true, cause);
    }
}
