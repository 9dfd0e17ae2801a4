package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The topic to create already exists. */
public final class TopicExistsException extends JournalQException {
    public TopicExistsException(String message) {
        this(message, null);
    }

    public TopicExistsException(String message, Throwable cause) {
        super(message, ErrorCode.TOPIC_ALREADY_EXISTS, false, cause);
    }
}
