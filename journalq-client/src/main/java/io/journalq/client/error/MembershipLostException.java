package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/**
 * The group went on without this consumer: what it wanted to commit may be another member's by now, which reads it again.
 * The next {@code poll} joins the group again.
 */
public final class MembershipLostException extends JournalQException {
    public MembershipLostException(String message, ErrorCode errorCode) {
        super(message, errorCode, false, null);
    }
}
