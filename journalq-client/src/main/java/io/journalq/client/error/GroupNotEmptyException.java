package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** What was asked for is only done to a group without members. */
public final class GroupNotEmptyException extends JournalQException {
    public GroupNotEmptyException(String message) {
        this(message, null);
    }

    public GroupNotEmptyException(String message, Throwable cause) {
        super(message, ErrorCode.NON_EMPTY_GROUP, false, cause);
    }
}
