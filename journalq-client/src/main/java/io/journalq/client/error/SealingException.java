package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * A record was not sent, because it cannot be sealed: the topic has no recipients, this producer is not a known sender,
 * or the keys cannot be trusted. The client never sends such a record without encryption. Or a record was not returned,
 * because a key that is in a key management service cannot be used now. Try again when the service is available.
 */
public final class SealingException extends JournalQException {
    public SealingException(String message, Throwable cause) {
        super(message, ErrorCode.UNKNOWN_SERVER_ERROR, false, cause);
    }
}
