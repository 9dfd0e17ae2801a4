package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** Another thread called {@code wakeup()} on the consumer. Nothing is wrong: the same call may be made again. */
public final class WakeupException extends JournalQException {
    public WakeupException(String message) {
        super(message, ErrorCode.NONE, true, null);
    }
}
