package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** The broker answered with an error that has no exception of its own; {@link #errorCode()} tells which. */
public final class BrokerErrorException extends JournalQException {
    public BrokerErrorException(String message, ErrorCode errorCode) {
        super(message, errorCode, errorCode.retriable(), null);
    }
}
