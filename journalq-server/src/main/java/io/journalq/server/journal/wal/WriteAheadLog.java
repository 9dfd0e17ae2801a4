package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The write-ahead files of one data directory. {@link #commit} and {@link #close} are called by one thread at a time.
 * {@link #makeSpare} is called by one thread at a time, concurrently with the others. Both block.
 *
 * <p>A failed sync is permanent: the state of the files on the disk is unknown, and a second sync would report success
 * without writing them. A failed write is not permanent: the caller then syncs the journals themselves.
 */
public final class WriteAheadLog {
    /** Name of the directory inside the data directory. */
    public static final String DIRECTORY_NAME = "write-ahead";

    /** Suffix of the files' names. */
    public static final String FILE_SUFFIX = ".wal";

    /**
     * The number of files that share the room: enough that some are filled while others wait for the syncs of journals.
     */
    public static final int FILE_COUNT = 8;

    /** When this many files are full, the journals with data in the oldest one are asked to flush. */
    private static final int MOST_UNFLUSHED_FILES = FILE_COUNT / 2;

    /**
     * Syncing this many journals costs less than another file, so they are asked to flush as soon as a file is full.
     */
    private static final int FEW_JOURNALS = 4;

    /** Maximum size of one commit; above this, syncing the journals' own files is as fast. */
    private static final int MAX_COMMIT_SIZE_BYTES = 8 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(WriteAheadLog.class);

    private final FileStore store;
    private final Path directory;
    private final int fileSizeBytes;
    /** The oldest first. */
    private final List<WriteAheadSegment> full = new ArrayList<>();

    private final AtomicReference<WriteAheadSegment> spare = new AtomicReference<>();
    private WriteAheadSegment active;
    /** True if it seems that no file will be free when the active one is full. */
    private volatile boolean spareNeeded = true;

    private boolean lookedAhead;
    private long nextSequence = 1;
    private volatile int made;
    private volatile IOException failure;

    /**
     * Creates no file yet.
     *
     * @param dataDirectory contains no write-ahead file that has not been recovered
     *     ({@link io.journalq.server.journal.WalReplay})
     * @param sizeBytes room for all files
     */
    public WriteAheadLog(FileStore store, Path dataDirectory, long sizeBytes) {
        this.store = store;
        this.directory = dataDirectory.resolve(DIRECTORY_NAME);
        this.fileSizeBytes = (int) Math.min(Integer.MAX_VALUE, sizeBytes / FILE_COUNT);
    }

    /** Maximum size in bytes that each of {@code count} loops may add to one commit, so that all of it fits. */
    public int maxFramesSizeBytes(int count) {
        int room = fileSizeBytes - WriteAheadFormat.FILE_HEADER_SIZE_BYTES;
        return Math.max(1, Math.min(MAX_COMMIT_SIZE_BYTES, room) / count);
    }

    /** Why commits fail permanently; null while they do not. Any thread. */
    public IOException failure() {
        return failure;
    }

    /** Makes all later commits fail, because the files cannot be relied on. Any thread; may block. */
    public synchronized void fail(IOException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /**
     * Writes records and syncs them.
     *
     * @return false if they cannot be written: there is no file, or no room on the disk
     * @throws IOException if a sync failed, now or earlier
     */
    public synchronized boolean commit(List<WriteAheadFrames> frames) throws IOException {
        if (failure != null) {
            throw new IOException(directory + " accepts no more writes after a failure", failure);
        }
        long sizeBytes = 0;
        for (WriteAheadFrames some : frames) {
            sizeBytes += some.sizeBytes();
        }
        if ((active == null || !active.hasRoom(sizeBytes)) && !beginNext(sizeBytes)) {
            return false;
        }
        if (!write(frames)) {
            return false;
        }
        try {
            active.sync();
            forgetCut(frames);
            lookAhead();
            return true;
        } catch (IOException bad) {
            failure = bad;
            LOG.error(
                    "{}: a sync failed; partitions in mode consistent accept no more appends: {}",
                    directory,
                    bad.toString());
            throw bad;
        }
    }

    /** The records before a cut are void. They need not become durable in the journal's own files any more. */
    private void forgetCut(List<WriteAheadFrames> frames) {
        for (WriteAheadFrames some : frames) {
            for (WriteAheadFrames.Entry entry : some.entries()) {
                if (entry.isCut()) {
                    full.forEach(segment -> segment.forget(entry.covered()));
                    active.forget(entry.covered());
                }
            }
        }
    }

    private boolean write(List<WriteAheadFrames> frames) {
        try {
            for (WriteAheadFrames some : frames) {
                long firstSequence = nextSequence;
                // Also if the write fails and left a part of the records: a sequence number is never used for two
                // records.
                nextSequence += some.entries().size();
                active.write(some, firstSequence);
            }
            return true;
        } catch (IOException bad) {
            LOG.warn("{}: cannot write to it: {}", active.path(), bad.toString());
            leaveActive();
            return false;
        }
    }

    /**
     * Runs once for each file, at its middle, so that there is enough time to create the next file before it is needed.
     */
    private void lookAhead() {
        if (!lookedAhead && active.isHalfFull()) {
            lookedAhead = true;
            spareNeeded = firstReusable() < 0;
        }
    }

    private boolean beginNext(long sizeBytes) {
        if (active != null) {
            leaveActive();
        }
        WriteAheadSegment next = takeFree();
        lookedAhead = false;
        spareNeeded = next == null;
        if (next == null) {
            // Those that were asked before may have been skipped, or written to since.
            full.forEach(WriteAheadSegment::flushSoon);
            return false;
        }
        active = next;
        try {
            next.begin(nextSequence);
        } catch (IOException bad) {
            LOG.warn("{}: cannot start to use it: {}", next.path(), bad.toString());
            leaveActive();
            return false;
        }
        return next.hasRoom(sizeBytes);
    }

    private void leaveActive() {
        WriteAheadSegment left = active;
        full.add(left);
        active = null;
        List<WriteAheadSegment> inUse =
                full.stream().filter(segment -> !segment.isFree()).toList();
        if (left.journalCount() <= FEW_JOURNALS) {
            left.flushSoon();
        }
        if (inUse.size() >= MOST_UNFLUSHED_FILES) {
            // One flush of a journal frees its data in all files: the longer the flush waits, the fewer flushes are
            // needed.
            inUse.get(0).flushSoon();
        }
    }

    private WriteAheadSegment takeFree() {
        int reusable = firstReusable();
        return reusable < 0 ? spare.getAndSet(null) : full.remove(reusable);
    }

    /**
     * Index of the oldest full file that can be used again; -1 if there is none. A file with a cut must be the oldest of
     * all: those before it hold records that only the cut makes void. A file that could not be written when it was used
     * again is the newest, and may still hold such records.
     */
    private int firstReusable() {
        boolean keepsCuts = full.stream().anyMatch(WriteAheadSegment::mayHoldOld);
        for (int i = 0; i < full.size(); i++) {
            WriteAheadSegment segment = full.get(i);
            if (segment.isFree() && (!segment.holdsCut() || (i == 0 && !keepsCuts))) {
                return i;
            }
        }
        return -1;
    }

    /** Whether {@link #makeSpare} should be called. Any thread. */
    public boolean wantsSpare() {
        return spareNeeded && failure == null && spare.get() == null && made < FILE_COUNT;
    }

    /**
     * Creates one more file before it is needed.
     *
     * @throws IOException if there is less than twice the room for it, because it must not use up the room of other
     *     writers
     */
    public void makeSpare() throws IOException {
        if (made == 0) {
            store.createDirectories(directory);
            store.syncDirectory(directory.getParent());
        }
        long usableBytes = store.usableBytes(directory);
        if (usableBytes < 2L * fileSizeBytes) {
            throw new IOException("only " + usableBytes + " bytes are left on the disk of " + directory);
        }
        int number = made + 1;
        Path path = directory.resolve(String.format(Locale.ROOT, "%02d%s", number, FILE_SUFFIX));
        keep(WriteAheadSegment.create(store, path, fileSizeBytes));
        made = number;
    }

    private synchronized void keep(WriteAheadSegment unused) throws IOException {
        if (failure == null) {
            spare.set(unused);
        } else {
            // Closed in the meantime: no other thread would close the file.
            unused.close();
            store.delete(unused.path());
        }
    }

    /**
     * Closes the files. Deletes them if all of their data is durable in the journals; otherwise the next start needs
     * them.
     */
    public synchronized void close() throws IOException {
        if (active != null) {
            full.add(active);
            active = null;
        }
        WriteAheadSegment unused = spare.getAndSet(null);
        if (unused != null) {
            full.add(unused);
        }
        boolean free = failure == null;
        for (WriteAheadSegment segment : full) {
            free &= segment.isFree();
            segment.close();
        }
        if (free && !full.isEmpty()) {
            for (WriteAheadSegment segment : full) {
                delete(store, segment.path());
            }
        }
        full.clear();
        if (failure == null) {
            failure = new IOException(directory + " is closed");
        }
    }

    /**
     * Deletes a file for good. Of all files, the oldest has to be deleted first: records in it may be void only because
     * of a cut in a later one, and a power loss may undo any deletion whose directory is not synced. Blocks.
     */
    public static void delete(FileStore store, Path file) throws IOException {
        store.delete(file);
        store.syncDirectory(file.getParent());
    }
}
