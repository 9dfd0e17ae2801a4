package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A healthy file is of a format that this release does not know: it was written by a newer one. Nothing is read from it
 * and nothing of its journal is changed. Every format of this package begins with a magic number and its version and keeps
 * its CRC in its place from version to version, so that a newer file can be told from a damaged one.
 */
public final class NewerFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    public NewerFormatException(Path file, String what, int version, int newestKnown) {
        super(file + " is " + what + " of format version " + version + ", this release knows versions up to "
                + newestKnown + "; start the newer release that wrote it");
    }
}
