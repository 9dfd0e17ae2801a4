package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * A TLS handshake failed in a way that another attempt does not change: the broker or the client has no certificate that
 * the other side trusts, the certificate names another host, or the listener does not use TLS.
 */
public final class TlsFailedException extends JournalQException {
    public TlsFailedException(String message, Throwable cause) {
        super(message, ErrorCode.NETWORK_EXCEPTION, false, cause);
    }
}
