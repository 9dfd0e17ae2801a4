package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The topic or partition does not exist. */
public final class UnknownTopicException extends JournalQException {
    public UnknownTopicException(String message) {
        this(message, null);
    }

    public UnknownTopicException(String message, Throwable cause) {
        super(message, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, true, cause);
    }
}
