package io.journalq.common.protocol;

/**
 * The bytes are not a valid message: they are truncated, contain a length beyond the frame, or a null where none is
 * allowed. The sender is at fault, so the connection is closed and only the message is logged. Has no stack trace, so
 * that throwing it is cheap.
 */
public class BadFrameException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BadFrameException(String message) {
        super(message, null, false, false);
    }

    /** The arrays of a message have more elements in total than the reader accepts. */
    public static final class TooManyEntriesException extends BadFrameException {
        private static final long serialVersionUID = 1L;

        TooManyEntriesException(int maxEntries) {
            super("a message with more than " + maxEntries + " entries");
        }
    }
}
