package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A healthy file has a format that a newer release wrote and that this release does not know. Nothing is read from the
 * file, and its journal is not changed. Every format of this package begins with a magic number and a version, and
 * every version has the CRC in the same place, so that a newer file can be distinguished from a damaged one.
 */
public final class NewerFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    public NewerFormatException(Path file, String what, int version, int newestKnown) {
        super(file + " is " + what + " of format version " + version + ", this release knows versions up to "
                + newestKnown + "; start the newer release that wrote the file");
    }
}
