package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** There is no such group: nobody is in it, and it has no committed offsets. */
public final class UnknownGroupException extends JournalQException {
    public UnknownGroupException(String message) {
        this(message, null);
    }

    public UnknownGroupException(String message, Throwable cause) {
        super(message, ErrorCode.GROUP_ID_NOT_FOUND, false, cause);
    }
}
