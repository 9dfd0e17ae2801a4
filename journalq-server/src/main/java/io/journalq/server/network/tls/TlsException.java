package io.journalq.server.network.tls;

import java.io.IOException;

/** TLS cannot be set up: one line for the operator, which contains no secret. */
public final class TlsException extends IOException {
    private static final long serialVersionUID = 1L;

    TlsException(String message) {
        super(message);
    }

    TlsException(String message, Throwable cause) {
        super(message, cause);
    }
}
