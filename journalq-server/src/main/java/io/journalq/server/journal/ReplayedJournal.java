package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.WriteAheadRecord;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One journal's part of {@link WalReplay}: the newest segment that has its final name. All data before this segment is
 * durable, as its name asserts ({@link Segment#settle}), and nothing behind it counts. Until there is a newer segment,
 * only appends change this one, so replayed batches go to their original positions. One thread; blocks.
 */
final class ReplayedJournal {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayedJournal.class);

    private final FileStore store;
    private final Path directory;

    /** Null if there is no segment. */
    private final Path newestLog;

    /** Null while it is closed. */
    private LogFile file;

    private boolean written;
    private boolean told;

    ReplayedJournal(FileStore store, Path directory) throws IOException {
        this.store = store;
        this.directory = directory;
        this.newestLog = newestLog(store, directory);
    }

    private static Path newestLog(FileStore store, Path directory) throws IOException {
        Path newest = null;
        for (String name : store.list(directory)) {
            Path log = directory.resolve(name);
            if (name.endsWith(Segment.LOG_SUFFIX) && JournalCheck.baseOffsetOf(log) >= 0) {
                newest = log;
            }
        }
        return newest;
    }

    /** Writes a record to its original position. Returns false if that is not needed or no longer possible. */
    boolean apply(WriteAheadRecord record) throws IOException {
        if (!Segment.logPath(directory, record.segmentBaseOffset()).equals(newestLog)) {
            return false;
        }
        if (file == null) {
            file = store.open(newestLog, false);
        }
        if (record.position() > file.sizeBytes()) {
            tell(record);
            return false;
        }
        written = true;
        file.write(record.data(), record.position());
        return true;
    }

    /** Logs a record that cannot be written, once for each journal. */
    private void tell(WriteAheadRecord record) {
        if (!told) {
            told = true;
            LOG.warn("{}: not writing at byte {}: the data before it is missing", newestLog, record.position());
        }
    }

    /** Syncs the written data, even if the file was closed in the meantime. */
    void sync() throws IOException {
        if (!written) {
            return;
        }
        closeFile();
        try {
            try (LogFile log = opened()) {
                log.sync();
            }
            store.syncDirectory(directory);
        } catch (SyncNotBegunException nothingIsLost) {
            throw nothingIsLost;
        } catch (IOException failure) {
            // The file also holds data that is in no write-ahead file.
            JournalFlusher.leaveFence(store, directory, failure);
            throw failure;
        }
    }

    private LogFile opened() throws SyncNotBegunException {
        try {
            return store.open(newestLog, false);
        } catch (IOException failure) {
            throw new SyncNotBegunException(newestLog, failure);
        }
    }

    void closeFile() {
        if (file != null) {
            try {
                file.close();
            } catch (IOException failure) {
                LOG.warn("{}: cannot close it: {}", newestLog, failure.toString());
            }
            file = null;
        }
    }
}
