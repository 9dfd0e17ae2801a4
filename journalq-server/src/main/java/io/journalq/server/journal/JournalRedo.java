package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadRecord;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what the write-ahead files of a data folder hold of the journals' newest segments there once more, syncs that, and
 * deletes the files: afterwards the journals are all there is. Before any journal of the folder is opened; stopped at any
 * point, it begins anew. A damaged file is kept under another name. One thread; blocks.
 *
 * <p>The bytes go to where they were ({@link RedoneJournal}). No segment is ever made: nothing of one counts as covered before
 * its name is synced, so that one which is not there was deleted.
 */
public final class JournalRedo {
    /** As many files are open at once, however many journals there are. */
    private static final int MOST_OPEN_FILES = 64;

    /** Ends the name of a file that nobody reads any more; whoever has looked at it may delete it. */
    private static final String DAMAGED_SUFFIX = ".damaged";

    private static final Logger LOG = LoggerFactory.getLogger(JournalRedo.class);

    private final FileStore store;
    private final Path dataDirectory;
    private final Set<String> present;
    private final Set<Path> damaged = new HashSet<>();
    /** By the names of their folders; null for one that is not there. */
    private final Map<String, RedoneJournal> journals = new HashMap<>();

    /** Those with an open file, the one that was used last at the end. */
    private final Set<RedoneJournal> open = new LinkedHashSet<>();

    private JournalRedo(FileStore store, Path dataDirectory) throws IOException {
        this.store = store;
        this.dataDirectory = dataDirectory;
        this.present = new HashSet<>(store.list(dataDirectory));
    }

    /**
     * Does it.
     *
     * @return how many records were written into journals
     * @throws IOException when a file cannot be read or written, or is of a newer format; then nothing may be served, as
     *     what is missing was acknowledged
     */
    public static long run(FileStore store, Path dataDirectory) throws IOException {
        if (store.list(dataDirectory.resolve(WriteAheadLog.FOLDER_NAME)).isEmpty()) {
            return 0;
        }
        JournalRedo redo = new JournalRedo(store, dataDirectory);
        try {
            long count = redo.apply();
            redo.sync();
            redo.deleteFiles();
            return count;
        } finally {
            redo.close();
        }
    }

    private long apply() throws IOException {
        long count = 0;
        for (Path file : WriteAheadScan.files(store, dataDirectory)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                    if (apply(record)) {
                        count++;
                    }
                }
                if (scan.isDamaged()) {
                    damaged.add(file);
                }
            }
        }
        if (count > 0) {
            LOG.info("{}: {} records of the write-ahead files were written into the journals", dataDirectory, count);
        }
        return count;
    }

    private boolean apply(WriteAheadRecord record) throws IOException {
        RedoneJournal journal = journal(record.folder());
        if (journal == null) {
            return false;
        }
        open.remove(journal);
        open.add(journal);
        if (open.size() > MOST_OPEN_FILES) {
            Iterator<RedoneJournal> oldest = open.iterator();
            oldest.next().closeFile();
            oldest.remove();
        }
        return journal.apply(record);
    }

    private RedoneJournal journal(String folder) throws IOException {
        if (!journals.containsKey(folder)) {
            // A folder that is not there was deleted. Only names that the data folder has are ever resolved.
            journals.put(
                    folder, present.contains(folder) ? new RedoneJournal(store, dataDirectory.resolve(folder)) : null);
        }
        return journals.get(folder);
    }

    private void sync() throws IOException {
        close();
        for (RedoneJournal journal : journals.values()) {
            if (journal != null) {
                journal.sync();
            }
        }
    }

    private void deleteFiles() throws IOException {
        Path directory = dataDirectory.resolve(WriteAheadLog.FOLDER_NAME);
        for (String name : store.list(directory)) {
            Path file = directory.resolve(name);
            if (damaged.contains(file)) {
                Path kept = directory.resolve(name + DAMAGED_SUFFIX);
                store.move(file, kept);
                LOG.error("{} is damaged: what can be read of it is in the journals, the file is now {}", file, kept);
            } else if (name.endsWith(WriteAheadLog.FILE_SUFFIX)) {
                store.delete(file);
            }
        }
        store.syncDirectory(directory);
    }

    private void close() {
        open.forEach(RedoneJournal::closeFile);
        open.clear();
    }
}
