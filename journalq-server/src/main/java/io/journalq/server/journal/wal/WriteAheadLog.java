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
 * The write-ahead files of one data folder. {@link #commit} and {@link #close} by one thread at a time, {@link #makeSpare}
 * by one at a time, at the same time as the others; both block.
 *
 * <p>A failed sync is the end of it: nobody can say what of the files is on the disk, and a second sync would report success
 * without it. A failed write is not: whoever hears of it syncs the journals themselves.
 */
public final class WriteAheadLog {
    /** Name of the folder in the data folder. */
    public static final String FOLDER_NAME = "write-ahead";

    /** What the files' names end with. */
    public static final String FILE_SUFFIX = ".wal";

    /** Into so many files the room is divided: enough that some are filled while others wait for journals' syncs. */
    public static final int FILE_COUNT = 8;

    /** When so many are full, journals are asked to flush what is in the oldest. */
    private static final int MOST_UNFLUSHED_FILES = FILE_COUNT / 2;

    /** The syncs of so many journals cost less than another file: they are asked as soon as one is full. */
    private static final int FEW_JOURNALS = 4;

    /** The most that is committed together; more is as fast in the journals' own files. */
    private static final int MAX_COMMIT_SIZE_BYTES = 8 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(WriteAheadLog.class);

    private final FileStore store;
    private final Path directory;
    private final int fileSizeBytes;
    private final List<WriteAheadSegment> full = new ArrayList<>();
    private final AtomicReference<WriteAheadSegment> spare = new AtomicReference<>();
    private WriteAheadSegment active;
    /** No file will be free when the active one is full, by all that is known. */
    private volatile boolean spareNeeded = true;

    private boolean lookedAhead;
    private long nextSequence = 1;
    private volatile int made;
    private volatile IOException failure;

    /**
     * Uses what there is room for; makes no file yet.
     *
     * @param dataDirectory holds none that is not recovered ({@link io.journalq.server.journal.WalReplay})
     * @param sizeBytes room for all files
     */
    public WriteAheadLog(FileStore store, Path dataDirectory, long sizeBytes) {
        this.store = store;
        this.directory = dataDirectory.resolve(FOLDER_NAME);
        this.fileSizeBytes = (int) Math.min(Integer.MAX_VALUE, sizeBytes / FILE_COUNT);
    }

    /** What each of {@code count} loops may bring to one commit, in bytes, so that all of it fits. */
    public int maxFramesSizeBytes(int count) {
        int room = fileSizeBytes - WriteAheadFormat.FILE_HEADER_SIZE_BYTES;
        return Math.max(1, Math.min(MAX_COMMIT_SIZE_BYTES, room) / count);
    }

    /** Why nothing can be committed any more; null while it can. Any thread. */
    public IOException failure() {
        return failure;
    }

    /** Lets nothing be committed any more: the files cannot be relied on. Any thread; may block. */
    public synchronized void fail(IOException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /**
     * Writes records and syncs them.
     *
     * @return false when they cannot be written: there is no file, or no room on the disk
     * @throws IOException when a sync failed, now or before
     */
    public synchronized boolean commit(List<WriteAheadFrames> frames) throws IOException {
        if (failure != null) {
            throw new IOException(directory + " takes nothing any more", failure);
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
            lookAhead();
            return true;
        } catch (IOException bad) {
            failure = bad;
            LOG.error("{}: a sync failed; partitions in mode consistent take no more: {}", directory, bad.toString());
            throw bad;
        }
    }

    private boolean write(List<WriteAheadFrames> frames) {
        try {
            for (WriteAheadFrames some : frames) {
                long firstSequence = nextSequence;
                // Also of what fails, and may be there in part: no number stands for two records.
                nextSequence += some.entries().size();
                active.write(some, firstSequence);
            }
            return true;
        } catch (IOException bad) {
            LOG.warn("{}: could not be written: {}", active.path(), bad.toString());
            leaveActive();
            return false;
        }
    }

    /** Once for each file, in its middle: as long before the next is needed as it takes to make one. */
    private void lookAhead() {
        if (!lookedAhead && active.isHalfFull()) {
            lookedAhead = true;
            spareNeeded = full.stream().noneMatch(WriteAheadSegment::isFree);
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
            // Those that were asked before may not have heard, or been written to since.
            full.forEach(WriteAheadSegment::flushSoon);
            return false;
        }
        active = next;
        try {
            next.begin(nextSequence);
        } catch (IOException bad) {
            LOG.warn("{}: could not be begun: {}", next.path(), bad.toString());
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
            // One flush of a journal frees all files of it: the longer that waits, the fewer it takes.
            inUse.get(0).flushSoon();
        }
    }

    private WriteAheadSegment takeFree() {
        for (int i = 0; i < full.size(); i++) {
            if (full.get(i).isFree()) {
                return full.remove(i);
            }
        }
        return spare.getAndSet(null);
    }

    /** Whether {@link #makeSpare} is worth a call. Any thread. */
    public boolean wantsSpare() {
        return spareNeeded && failure == null && spare.get() == null && made < FILE_COUNT;
    }

    /**
     * Makes one more file, so that it is there when it is needed.
     *
     * @throws IOException when there is no room for it and as much again: it must not take the last from those who write
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
            // Closed meanwhile: nobody else would.
            unused.close();
            store.delete(unused.path());
        }
    }

    /** Closes the files, and deletes them when all that they hold is safe elsewhere: else the next start needs them. */
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
                store.delete(segment.path());
            }
            store.syncDirectory(directory);
        }
        full.clear();
        if (failure == null) {
            failure = new IOException(directory + " is closed");
        }
    }
}
