package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/**
 * The coordinator did not say in time whether a transaction is committed. All of it is there or nothing: look before it is
 * run again.
 */
public final class TransactionUnknownException extends JournalQException {
    public TransactionUnknownException(String message, Throwable cause) {
        super(message, ErrorCode.REQUEST_TIMED_OUT, false, cause);
    }
}
