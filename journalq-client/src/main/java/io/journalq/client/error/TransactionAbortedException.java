package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The transaction was aborted, for the reason that is the cause: nothing of it is there. It may be run again. */
public final class TransactionAbortedException extends JournalQException {
    public TransactionAbortedException(String message, Throwable cause) {
        super(message, ErrorCode.TRANSACTION_ABORTABLE, true, cause);
    }
}
