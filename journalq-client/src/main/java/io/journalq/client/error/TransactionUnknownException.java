package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The coordinator did not confirm in time whether the transaction is committed. Either all of it or nothing is visible.
 * Check which, before you run it again.
 */
public final class TransactionUnknownException extends JournalQException {
    public TransactionUnknownException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, false, cause);
    }
}
