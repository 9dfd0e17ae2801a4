package io.journalq.common.protocol;

/**
 * Bytes that are not the message they should be: cut short, a length beyond the frame, a null where none may be. The
 * sender is at fault, so the connection is closed and nothing is logged but the message; for that reason there is no
 * stack trace, and throwing one is cheap.
 */
public class BadFrameException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BadFrameException(String message) {
        super(message, null, false, false);
    }
}
