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
 * Replays the write-ahead files of a data directory into the newest segments of its journals, syncs these segments, and
 * deletes the files, the oldest first. Runs before any journal of the directory is opened. If it is interrupted at any point, the next
 * run starts again. A damaged file is renamed and kept. One thread; blocks.
 *
 * <p>Records before a cut of their journal are void: the journal was truncated or deleted, and other records may be in
 * their place.
 * The cut itself is not done again, because later data can be durable that no write-ahead file has. It need not be:
 * a truncation that a crash interrupts leaves a log without gaps ({@link Journal#truncateTo}).
 *
 * <p>The bytes go to their original positions ({@link ReplayedJournal}). Replay never creates a segment: a segment
 * counts as covered only after its name is synced, so a missing segment was deleted.
 */
public final class WalReplay {
    /** Maximum number of files open at the same time, for any number of journals. */
    private static final int MOST_OPEN_FILES = 64;

    /** Suffix of a damaged file. It is not read again, and an operator may delete it. */
    private static final String DAMAGED_SUFFIX = ".damaged";

    private static final Logger LOG = LoggerFactory.getLogger(WalReplay.class);

    private final FileStore store;
    private final Path dataDirectory;
    private final Set<String> present;
    private final Set<Path> damaged = new HashSet<>();
    /** By directory name; null for a directory that does not exist. */
    private final Map<String, ReplayedJournal> journals = new HashMap<>();

    /** By directory name: the sequence number of the journal's last cut. */
    private final Map<String, Long> lastCuts = new HashMap<>();

    /** The journals with an open file, the most recently used last. */
    private final Set<ReplayedJournal> open = new LinkedHashSet<>();

    private WalReplay(FileStore store, Path dataDirectory) throws IOException {
        this.store = store;
        this.dataDirectory = dataDirectory;
        this.present = new HashSet<>(store.list(dataDirectory));
    }

    /**
     * Replays the write-ahead files.
     *
     * @return the number of records written into journals
     * @throws IOException if a file cannot be read or written, or has a newer format. In this case the broker must not
     *     serve clients, because acknowledged records are missing
     */
    public static long run(FileStore store, Path dataDirectory) throws IOException {
        if (store.list(dataDirectory.resolve(WriteAheadLog.DIRECTORY_NAME)).isEmpty()) {
            return 0;
        }
        WalReplay replay = new WalReplay(store, dataDirectory);
        try {
            replay.findCuts();
            long count = replay.apply();
            replay.sync();
            replay.deleteFiles();
            return count;
        } finally {
            replay.close();
        }
    }

    private void findCuts() throws IOException {
        for (Path file : WriteAheadScan.files(store, dataDirectory)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                    if (record.isCut()) {
                        lastCuts.merge(record.directory(), record.sequence(), Math::max);
                    }
                }
            }
        }
    }

    private boolean isVoid(WriteAheadRecord record) {
        Long cut = lastCuts.get(record.directory());
        return cut != null && record.sequence() <= cut;
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
            LOG.info("{}: replayed {} records of the write-ahead files into the journals", dataDirectory, count);
        }
        return count;
    }

    private boolean apply(WriteAheadRecord record) throws IOException {
        ReplayedJournal journal = isVoid(record) ? null : journal(record.directory());
        if (journal == null) {
            return false;
        }
        open.remove(journal);
        open.add(journal);
        if (open.size() > MOST_OPEN_FILES) {
            Iterator<ReplayedJournal> oldest = open.iterator();
            oldest.next().closeFile();
            oldest.remove();
        }
        return journal.apply(record);
    }

    private ReplayedJournal journal(String name) throws IOException {
        if (!journals.containsKey(name)) {
            // A missing directory was deleted. Only names that exist in the data directory are resolved.
            journals.put(name, present.contains(name) ? new ReplayedJournal(store, dataDirectory.resolve(name)) : null);
        }
        return journals.get(name);
    }

    private void sync() throws IOException {
        close();
        for (ReplayedJournal journal : journals.values()) {
            if (journal != null) {
                journal.sync();
            }
        }
    }

    private void deleteFiles() throws IOException {
        Path directory = dataDirectory.resolve(WriteAheadLog.DIRECTORY_NAME);
        for (Path file : WriteAheadScan.files(store, dataDirectory)) {
            if (damaged.contains(file)) {
                Path kept = directory.resolve(file.getFileName() + DAMAGED_SUFFIX);
                store.move(file, kept);
                store.syncDirectory(directory);
                LOG.error("{} is damaged: replayed its readable records and renamed the file to {}", file, kept);
            } else {
                WriteAheadLog.delete(store, file);
            }
        }
        for (String name : store.list(directory)) {
            if (name.endsWith(WriteAheadLog.FILE_SUFFIX)) {
                WriteAheadLog.delete(store, directory.resolve(name)); // It has never been used.
            }
        }
    }

    private void close() {
        open.forEach(ReplayedJournal::closeFile);
        open.clear();
    }
}
