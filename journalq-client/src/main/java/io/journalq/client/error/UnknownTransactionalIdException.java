package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** No producer with this transactional id is known; the broker forgets those that were idle for a week by default. */
public final class UnknownTransactionalIdException extends JournalQException {
    public UnknownTransactionalIdException(String message) {
        this(message, null);
    }

    public UnknownTransactionalIdException(String message, Throwable cause) {
        super(message, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, false, cause);
    }
}
