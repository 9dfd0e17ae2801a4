package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * The producer, consumer or admin was closed before or during the call. After {@code close()}, every method throws this
 * exception, except {@code close()} itself, which has no effect.
 */
public final class ClientClosedException extends JournalQException {
    public ClientClosedException(String message) {
        this(message, null);
    }

    public ClientClosedException(String message, Throwable cause) {
        super(message, ErrorCode.NETWORK_EXCEPTION, false, cause);
    }
}
