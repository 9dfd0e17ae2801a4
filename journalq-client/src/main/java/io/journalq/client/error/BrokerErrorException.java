package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The broker responded with an error that has no exception class of its own. See {@link #errorCode()}. */
public final class BrokerErrorException extends JournalQException {
    public BrokerErrorException(String message, ErrorCode errorCode) {
        super(message, errorCode, errorCode.retriable(), null);
    }
}
