package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A sync did not start because the file could not even be opened, for example because the process has reached its limit
 * of open files. The disk was not involved, so no written data is lost. Unlike a failed sync, this one may be retried.
 */
public final class SyncNotBegunException extends IOException {
    private static final long serialVersionUID = 1L;

    public SyncNotBegunException(Path path, IOException cause) {
        super("cannot start to sync " + path + ": " + cause.getMessage(), cause);
    }
}
