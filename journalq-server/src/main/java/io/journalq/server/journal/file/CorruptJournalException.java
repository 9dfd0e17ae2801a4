package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/** A file of a journal holds bytes that its writer cannot have written. Names the file and the position. */
public final class CorruptJournalException extends IOException {
    private static final long serialVersionUID = 1L;

    public CorruptJournalException(Path file, long position, String finding) {
        super(file + " at byte " + position + ": " + finding);
    }

    public CorruptJournalException(Path file, String finding) {
        super(file + ": " + finding);
    }
}
