package io.journalq.seal;

import java.io.IOException;

/** A key management service no longer has the key of a generation, or no longer decrypts by it. */
final class DestroyedKeyException extends IOException {
    private static final long serialVersionUID = 1L;

    DestroyedKeyException(String message) {
        super(message);
    }
}
