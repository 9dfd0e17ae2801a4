package io.journalq.server.journal;

import java.nio.file.Path;

/**
 * A problem found in a file of a journal. Immutable.
 *
 * @param position of the first affected byte; 0 for the whole file
 * @param endPosition behind the last affected byte; 0 for the whole file
 * @param what description for people
 */
public record JournalFinding(Path file, long position, long endPosition, Kind kind, String what) {
    /** How the next start treats the problem. */
    public enum Kind {
        /** Bytes at the end of the newest segment that are not a whole batch. The next start removes them. */
        TORN_TAIL,
        /** Bytes without a healthy batch, followed by healthy batches. They stay in the file and are not served. */
        BAD_STRETCH,
        /** A newest segment whose predecessor lost its end in a power loss. The next start deletes the segment. */
        CUT_OFF,
        /** A file that can be rebuilt from others or is not needed. The next start ignores it. */
        BAD_DERIVED_FILE,
        /** A required file is missing. */
        MISSING_DATA,
        /** A file name that no journal uses. The next start does not touch it. */
        STRAY_FILE
    }

    @Override
    public String toString() {
        return file + (endPosition == 0 ? "" : " at byte " + position) + ": " + what;
    }
}
