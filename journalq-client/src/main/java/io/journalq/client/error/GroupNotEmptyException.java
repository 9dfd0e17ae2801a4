package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The operation requires a group without members, but the group has members. */
public final class GroupNotEmptyException extends JournalQException {
    public GroupNotEmptyException(String message) {
        this(message, null);
    }

    public GroupNotEmptyException(String message, Throwable cause) {
        super(message, ErrorCode.NON_EMPTY_GROUP, false, cause);
    }
}
