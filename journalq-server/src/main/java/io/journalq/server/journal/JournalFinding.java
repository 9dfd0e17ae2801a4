package io.journalq.server.journal;

import java.nio.file.Path;

/**
 * Something that is wrong with a file of a journal. Immutable.
 *
 * @param position of the first byte that is meant; 0 for the file as a whole
 * @param endPosition behind the last byte that is meant; 0 for the file as a whole
 * @param what for people
 */
public record JournalFinding(Path file, long position, long endPosition, Kind kind, String what) {
    /** What can be done about it. */
    public enum Kind {
        /** Bytes at the end of the newest segment that are no whole batch: the next start cuts them off. */
        TORN_TAIL,
        /** Bytes that hold no healthy batch, with batches behind them: they stay, and are not served. */
        BAD_STRETCH,
        /** A newest segment whose predecessor lost its end in a power loss. The next start deletes the segment. */
        CUT_OFF,
        /** A file that can be made anew from others, or done without: the next start ignores it. */
        BAD_DERIVED_FILE,
        /** A file that should be there. */
        MISSING_DATA,
        /** A name that no journal gives: it is left alone. */
        STRAY_FILE
    }

    @Override
    public String toString() {
        return file + (endPosition == 0 ? "" : " at byte " + position) + ": " + what;
    }
}
