package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The transactional id is not known. Brokers forget ids that were not used for a time, by default 7 days. */
public final class UnknownTransactionalIdException extends JournalQException {
    public UnknownTransactionalIdException(String message) {
        this(message, null);
    }

    public UnknownTransactionalIdException(String message, Throwable cause) {
        super(message, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, false, cause);
    }
}
