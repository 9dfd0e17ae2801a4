package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** The group does not exist: it has neither members nor committed offsets. */
public final class UnknownGroupException extends JournalQException {
    public UnknownGroupException(String message) {
        this(message, null);
    }

    public UnknownGroupException(String message, Throwable cause) {
        super(message, ErrorCode.GROUP_ID_NOT_FOUND, false, cause);
    }
}
