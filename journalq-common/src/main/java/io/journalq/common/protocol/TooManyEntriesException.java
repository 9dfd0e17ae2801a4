package io.journalq.common.protocol;

/** A message whose arrays have more elements, all together, than the reader was told to take. */
public final class TooManyEntriesException extends BadFrameException {
    private static final long serialVersionUID = 1L;

    TooManyEntriesException(int maxEntries) {
        super("a message with more than " + maxEntries + " entries");
    }
}
