package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * What was to be synced could not even be opened, as when the process has as many files open as it may. Nothing was asked
 * of the disk, so nothing that it holds back is lost: unlike a sync that failed, this one may be tried again.
 */
public final class SyncNotBegunException extends IOException {
    private static final long serialVersionUID = 1L;

    public SyncNotBegunException(Path path, IOException cause) {
        super("cannot sync " + path + ", as it cannot be opened: " + cause.getMessage(), cause);
    }
}
