package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The consumer is no longer a member of its group. Other members may already read its partitions again from the last
 * committed offsets. The next {@code poll} joins the group again.
 */
public final class MembershipLostException extends JournalQException {
    public MembershipLostException(String message, ErrorCode errorCode) {
        super(message, errorCode, false, null);
    }
}
