package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The producer is fenced. Another producer with the same transactional id has replaced it, or the coordinator aborted
 * its transaction after the timeout. The open transaction is not committed. Close this producer: it cannot begin
 * another transaction.
 */
public final class ProducerReplacedException extends JournalQException {
    public ProducerReplacedException(String message, ErrorCode errorCode) {
        super(message, errorCode, false, null);
    }
}
