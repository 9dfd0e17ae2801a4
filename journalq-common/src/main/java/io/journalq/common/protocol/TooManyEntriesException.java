package io.journalq.common.protocol;

/** The arrays of a message have more elements in total than the reader accepts. */
public final class TooManyEntriesException extends BadFrameException {
    private static final long serialVersionUID = 1L;

    TooManyEntriesException(int maxEntries) {
        super("a message with more than " + maxEntries + " entries");
    }
}
