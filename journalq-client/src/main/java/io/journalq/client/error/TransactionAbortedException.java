package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The transaction was aborted, and none of its records or offsets are visible. The cause states why. You can run the
 * transaction again.
 */
public final class TransactionAbortedException extends JournalQException {
    public TransactionAbortedException(String message, Throwable cause) {
        super(message, ErrorCode.TRANSACTION_ABORTABLE, true, cause);
    }
}
