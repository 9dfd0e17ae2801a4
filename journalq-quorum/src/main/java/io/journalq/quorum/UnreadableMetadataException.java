package io.journalq.quorum;

import java.io.IOException;

/** Stored metadata are damaged or of a newer release. They stay unreadable when they are read again. */
final class UnreadableMetadataException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreadableMetadataException(String message, Throwable cause) {
        super(message, cause);
    }
}
