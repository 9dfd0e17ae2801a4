package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/**
 * Another producer with the same transactional id took this one's place, or the coordinator gave this one's transaction up
 * after its time-out. Nothing of its open transaction will be committed, and it cannot begin another: close it.
 */
public final class ProducerReplacedException extends JournalQException {
    public ProducerReplacedException(String message, ErrorCode errorCode) {
        super(message, errorCode, false, null);
    }
}
