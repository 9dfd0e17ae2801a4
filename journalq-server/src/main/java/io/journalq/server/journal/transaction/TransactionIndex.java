package io.journalq.server.journal.transaction;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.segment.Segment;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The aborted transactions of one journal. There is one file, {@code <base offset of the segment>.txnindex}, for each
 * segment that contains abort markers, with entries in the order of the markers. A journal without aborted transactions
 * has no such file and no overhead.
 *
 * <p>The journal's owner adds each aborted transaction once its marker is written ({@link #add}). The files are written
 * before each snapshot of producer state, and the snapshot lists them. Transactions that ended before the snapshot are
 * in the files. Transactions that ended later are added again when the journal is replayed from there. A snapshot with
 * missing or damaged index files cannot be used ({@link #restore}); without a snapshot everything is added again from
 * the beginning of the journal.
 *
 * <p>These entries are in memory: those of the newest two segments, those not saved yet, and those of the most recently
 * read older file. {@link #add} and {@link #truncateTo} belong to the owner; any thread may call the rest.
 *
 * <p>Compaction may remove the records of an aborted transaction at any time, and then its marker. It must
 * {@link #remove} the entry before the marker. Readers hide the producer's records from the first offset to the marker,
 * so without the marker they would hide later records too. A commit marker must stay while records of its transaction
 * do, otherwise a replay finds the transaction open. Compaction must not change anything behind the last stable offset.
 */
public final class TransactionIndex {
    /** Number of newest segments whose entries stay in memory. */
    private static final int KEPT_IN_MEMORY = 2;

    private static final Logger LOG = LoggerFactory.getLogger(TransactionIndex.class);

    private final FileStore store;
    private final Path directory;

    /** Guards saving. Taken before the monitor of {@code this}, which is never held during I/O. */
    private final Object saving = new Object();

    /** By base offset of the segment. Created with the first abort: most journals never have one. */
    private NavigableMap<Long, Part> parts = Collections.emptyNavigableMap();

    /** Files found by recovery that have not been needed yet. */
    private List<Long> foundFiles = List.of();

    private Part lastLoaded;
    private volatile boolean empty = true;

    /** The entries of one segment; null if they are in the file only. Guarded by the index. */
    private static final class Part {
        private final long baseOffset;
        private List<AbortedTransaction> entries;
        private long changes;
        private long savedChanges;

        Part(long baseOffset, List<AbortedTransaction> entries) {
            this.baseOffset = baseOffset;
            this.entries = entries;
        }

        boolean isSaved() {
            return savedChanges == changes;
        }

        void replace(List<AbortedTransaction> newEntries) {
            entries = newEntries;
            changes++;
        }
    }

    public TransactionIndex(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /** Whether no transaction was aborted. Any thread. */
    public boolean isEmpty() {
        return empty;
    }

    // ---- called by the owner

    /**
     * Adds a transaction whose marker was written. Markers come in order; a transaction that is already known is
     * ignored.
     */
    public synchronized void add(long segmentBaseOffset, AbortedTransaction aborted) {
        if (aborted.markerOffset() <= lastMarkerOffset()) {
            return;
        }
        if (empty) {
            parts = new TreeMap<>();
            empty = false;
        }
        Map.Entry<Long, Part> newest = parts.lastEntry();
        if (newest == null || newest.getKey() < segmentBaseOffset) {
            parts.put(segmentBaseOffset, new Part(segmentBaseOffset, new ArrayList<>()));
            forgetOldEntries();
        }
        Part part = parts.lastEntry().getValue();
        part.entries.add(aborted);
        part.changes++;
    }

    private long lastMarkerOffset() {
        for (Part part : parts.descendingMap().values()) {
            if (part.entries != null && !part.entries.isEmpty()) {
                return part.entries.get(part.entries.size() - 1).markerOffset();
            }
        }
        return -1;
    }

    /** Drops older saved entries from memory. */
    private void forgetOldEntries() {
        int age = 0;
        for (Part part : parts.descendingMap().values()) {
            if (age >= KEPT_IN_MEMORY && part.isSaved()) {
                part.entries = null;
            }
            age++;
        }
    }

    /**
     * Removes the segments before {@code firstBaseOffset}, at which the journal begins now.
     *
     * @return files to be deleted
     */
    public synchronized List<Path> dropBefore(long firstBaseOffset) {
        return empty ? List.of() : drop(parts.headMap(firstBaseOffset, false));
    }

    /**
     * Removes the entries behind {@code endOffset}, at which the journal ends now. The next save, or recovery, corrects
     * the files. Blocks.
     */
    public void truncateTo(long endOffset) throws IOException {
        if (empty) {
            return;
        }
        deleteAll(drop(parts.tailMap(endOffset, false)));
        Part last;
        synchronized (this) {
            last = parts.isEmpty() ? null : parts.lastEntry().getValue();
        }
        if (last != null) {
            List<AbortedTransaction> left = new ArrayList<>(before(entriesOf(last), endOffset));
            synchronized (this) {
                last.replace(left);
            }
        }
    }

    private synchronized List<Path> drop(NavigableMap<Long, Part> dropped) {
        List<Path> files = new ArrayList<>(dropped.size());
        dropped.keySet().forEach(baseOffset -> files.add(file(baseOffset)));
        dropped.clear();
        lastLoaded = null;
        empty = parts.isEmpty();
        return files;
    }

    // ---- lookups

    /**
     * The aborted transactions that a reader of {@code [fromOffset, toOffset)} must know. Does not wait for the disk.
     *
     * @return null if a file has to be read: call {@link #find} on a thread that may block
     */
    public List<AbortedTransaction> findInMemory(long fromOffset, long toOffset) {
        if (empty) {
            return List.of();
        }
        synchronized (this) {
            List<AbortedTransaction> found = new ArrayList<>();
            for (Part part : from(fromOffset).values()) {
                boolean loaded = lastLoaded != null && lastLoaded.baseOffset == part.baseOffset;
                List<AbortedTransaction> entries = loaded ? lastLoaded.entries : part.entries;
                if (entries == null) {
                    return null;
                }
                if (collect(entries, fromOffset, toOffset, found)) {
                    return found;
                }
            }
            return found;
        }
    }

    /**
     * Like {@link #findInMemory}; blocks.
     *
     * @throws IOException if a file cannot be read or is damaged
     */
    public List<AbortedTransaction> find(long fromOffset, long toOffset) throws IOException {
        if (empty) {
            return List.of();
        }
        List<Part> candidates;
        synchronized (this) {
            candidates = new ArrayList<>(from(fromOffset).values());
        }
        List<AbortedTransaction> found = new ArrayList<>();
        for (Part part : candidates) {
            if (collect(entriesOf(part), fromOffset, toOffset, found)) {
                return found;
            }
        }
        return found;
    }

    private NavigableMap<Long, Part> from(long offset) {
        Long first = parts.floorKey(offset);
        return first == null ? parts : parts.tailMap(first, true);
    }

    /** The entries as a copy, or as a list that is never changed. */
    private List<AbortedTransaction> entriesOf(Part part) throws IOException {
        synchronized (this) {
            if (part.entries != null) {
                return List.copyOf(part.entries);
            }
            if (lastLoaded != null && lastLoaded.baseOffset == part.baseOffset) {
                return lastLoaded.entries;
            }
        }
        try {
            Part loaded = new Part(part.baseOffset, load(part.baseOffset));
            synchronized (this) {
                lastLoaded = loaded;
            }
            return loaded.entries;
        } catch (NoSuchFileException gone) {
            synchronized (this) {
                if (!parts.containsKey(part.baseOffset)) {
                    return List.of(); // Retention was faster, and those records can no longer be read.
                }
            }
            throw gone;
        }
    }

    /** Collects matching entries. Returns true if nothing behind {@code entries} can match. */
    private static boolean collect(
            List<AbortedTransaction> entries, long fromOffset, long toOffset, List<AbortedTransaction> into) {
        for (int i = firstAtOrBehind(entries, fromOffset); i < entries.size(); i++) {
            AbortedTransaction entry = entries.get(i);
            if (entry.firstOffset() < toOffset) {
                into.add(entry);
            }
            if (entry.lastStableOffset() >= toOffset) {
                return true;
            }
        }
        return false;
    }

    private static int firstAtOrBehind(List<AbortedTransaction> entries, long markerOffset) {
        int low = 0;
        int high = entries.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (entries.get(middle).markerOffset() < markerOffset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static List<AbortedTransaction> before(List<AbortedTransaction> entries, long markerOffset) {
        return entries.subList(0, firstAtOrBehind(entries, markerOffset));
    }

    // ---- files

    /** Records that recovery found the file of this segment. */
    public synchronized void found(long baseOffset) {
        foundFiles = new ArrayList<>(foundFiles);
        foundFiles.add(baseOffset);
    }

    /**
     * Makes all added entries durable. Blocks.
     *
     * @return base offsets of the segments that have files
     */
    public List<Long> save() throws IOException {
        if (empty) {
            return List.of();
        }
        synchronized (saving) {
            List<Part> all;
            synchronized (this) {
                all = new ArrayList<>(parts.values());
            }
            List<Long> baseOffsets = new ArrayList<>(all.size());
            for (Part part : all) {
                save(part);
                baseOffsets.add(part.baseOffset);
            }
            synchronized (this) {
                forgetOldEntries();
            }
            return baseOffsets;
        }
    }

    private void save(Part part) throws IOException {
        long changes;
        List<AbortedTransaction> entries;
        synchronized (this) {
            if (part.isSaved()) {
                return;
            }
            changes = part.changes;
            entries = List.copyOf(part.entries);
        }
        store.replace(file(part.baseOffset), TransactionIndexFile.encode(part.baseOffset, entries), true);
        boolean dropped;
        synchronized (this) {
            part.savedChanges = changes;
            dropped = parts.get(part.baseOffset) != part;
        }
        if (dropped) {
            store.delete(file(part.baseOffset));
        }
    }

    /**
     * Loads the files that a snapshot as of {@code offset} lists. Transactions that ended later must be added again.
     * Blocks.
     *
     * @param baseOffsets of the files that the snapshot lists
     * @param firstBaseOffset of the journal's first segment: the files of older segments are gone with them
     * @return false if some are missing or damaged
     */
    public boolean restore(List<Long> baseOffsets, long offset, long firstBaseOffset) throws IOException {
        TreeMap<Long, Part> restored = new TreeMap<>();
        for (long baseOffset : baseOffsets) {
            if (baseOffset < firstBaseOffset) {
                continue;
            }
            try {
                List<AbortedTransaction> entries = load(baseOffset);
                Part part = new Part(baseOffset, new ArrayList<>(before(entries, offset)));
                part.changes = part.entries.size() == entries.size() ? 0 : 1;
                restored.put(baseOffset, part);
            } catch (CorruptJournalException | NoSuchFileException bad) {
                LOG.error("cannot use an index of aborted transactions: {}", bad.toString());
                return false;
            }
        }
        synchronized (this) {
            parts = restored;
            empty = parts.isEmpty();
            forgetOldEntries();
        }
        deleteUnknown();
        return true;
    }

    /** Removes all entries, so that they can be added again. Blocks. */
    public void clear() throws IOException {
        synchronized (this) {
            parts = Collections.emptyNavigableMap();
            empty = true;
        }
        deleteUnknown();
    }

    private void deleteUnknown() throws IOException {
        List<Long> unknown;
        synchronized (this) {
            unknown = foundFiles.stream()
                    .filter(baseOffset -> !parts.containsKey(baseOffset))
                    .sorted()
                    .distinct()
                    .toList();
            foundFiles = List.of();
        }
        for (long baseOffset : unknown) {
            store.delete(file(baseOffset));
        }
    }

    /**
     * Removes the transactions whose markers are at {@code markerOffsets}: compaction has removed their records and is
     * about to remove these markers. Durable when this returns. Blocks.
     */
    public void remove(NavigableSet<Long> markerOffsets) throws IOException {
        if (empty || markerOffsets.isEmpty()) {
            return;
        }
        List<Part> touched;
        synchronized (this) {
            touched = new ArrayList<>(from(markerOffsets.first())
                    .headMap(markerOffsets.last(), true)
                    .values());
        }
        for (Part part : touched) {
            List<AbortedTransaction> loaded = entriesOf(part);
            if (loaded.stream().noneMatch(entry -> markerOffsets.contains(entry.markerOffset()))) {
                continue;
            }
            synchronized (this) {
                List<AbortedTransaction> left = new ArrayList<>(part.entries == null ? loaded : part.entries);
                left.removeIf(entry -> markerOffsets.contains(entry.markerOffset()));
                part.replace(left);
                lastLoaded = null;
            }
        }
        save();
    }

    /** Drops entries from memory that are also in files, because the journal is idle. */
    public synchronized void releaseIdle() {
        lastLoaded = null;
    }

    private List<AbortedTransaction> load(long baseOffset) throws IOException {
        Path file = file(baseOffset);
        return TransactionIndexFile.decode(file, store.read(file, TransactionIndexFile.MAX_SIZE_BYTES), baseOffset);
    }

    private Path file(long baseOffset) {
        return directory.resolve(Segment.fileName(baseOffset, TransactionIndexFile.SUFFIX));
    }

    /** Deletes the files. Blocks. */
    public void deleteAll(List<Path> files) {
        for (Path file : files) {
            try {
                store.delete(file);
            } catch (IOException failure) {
                LOG.error("{}: cannot delete it: {}", file, failure.toString());
            }
        }
    }
}
