package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** Another thread called {@code wakeup()} on the consumer. This is not an error: you can make the same call again. */
public final class WakeupException extends JournalQException {
    public WakeupException(String message) {
        super(message, ErrorCode.NONE, true, null);
    }
}
