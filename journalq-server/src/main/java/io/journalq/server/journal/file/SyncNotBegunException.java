package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A sync did not begin: what was to be synced could not even be opened, as when the process has as many files open as it may. Nothing was asked
 * of the disk, so nothing that it holds back is lost: unlike a sync that failed, this one may be tried again.
 */
public final class SyncNotBegunException extends IOException {
    private static final long serialVersionUID = 1L;

    public SyncNotBegunException(Path path, IOException cause) {
        super("a sync of " + path + " could not begin: " + cause.getMessage(), cause);
    }
}
