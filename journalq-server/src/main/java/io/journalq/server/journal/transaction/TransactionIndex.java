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
 * The aborted transactions of one journal. One file for each segment in which there are ends of such transactions, {@code
 * <base offset of the segment>.txnindex}, in the order of the ends; a journal without aborted transactions has no such
 * file and pays nothing.
 *
 * <p>The journal's owner tells of every abort once its marker is written ({@link #add}). The files are written before each
 * snapshot of producer state, and the snapshot names them: what ends before a snapshot stands in the files, what ends
 * later is told again by whoever replays the journal from there. A snapshot whose files are missing or damaged is of no
 * use ({@link #restore}); without one everything is told again from the journal's beginning.
 *
 * <p>What is in memory: the newest two segments' entries, what is not saved yet, and the last older file that was asked
 * for. {@link #add} and {@link #truncateTo} belong to the owner; the rest is for any thread.
 *
 * <p>Compaction may take the records of an aborted transaction away at any time, and its marker once they are gone, but it
 * must {@link #remove} the entry first: readers hide what the producer wrote from the first offset to the marker, and
 * without the marker they would go on hiding. A marker that commits must stay while records of its transaction do, else a
 * replay finds the transaction open. It may touch nothing behind the last stable offset.
 */
public final class TransactionIndex {
    /** Segments, from the newest on, whose entries stay in memory. */
    private static final int KEPT_IN_MEMORY = 2;

    private static final Logger LOG = LoggerFactory.getLogger(TransactionIndex.class);

    private final FileStore store;
    private final Path directory;

    /** Guards saving; taken before the monitor of {@code this}, which is never held during input or output. */
    private final Object saving = new Object();

    /** By base offset of the segment. Made with the first abort: most journals never have one. */
    private NavigableMap<Long, Part> parts = Collections.emptyNavigableMap();

    /** What recovery came across and nobody has asked for yet. */
    private List<Long> foundFiles = List.of();

    private Part lastLoaded;
    private volatile boolean empty = true;

    /** The entries of one segment; null when they are in the file only. Guarded by the index. */
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

    // ---- the owner's

    /** Takes in a transaction whose end was written; ends come in order, those that are known already do nothing. */
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

    /** Leaves older entries, once saved, to their files. */
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
     * The journal begins with the segment at {@code firstBaseOffset} now.
     *
     * @return files to be deleted
     */
    public synchronized List<Path> dropBefore(long firstBaseOffset) {
        return empty ? List.of() : drop(parts.headMap(firstBaseOffset, false));
    }

    /** The journal ends at {@code endOffset} now. Files are made right when they are next saved, or by recovery. Blocks. */
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

    // ---- looking up

    /**
     * The aborted transactions that a reader of {@code [fromOffset, toOffset)} must know. Does not wait for the disk.
     *
     * @return null when that is not possible: ask {@link #find} on a thread that may block
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
     * As {@link #findInMemory}; blocks.
     *
     * @throws IOException when a file cannot be read or is damaged
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

    /** A copy or what nobody changes any more. */
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
                    return List.of(); // Retention was faster, and nobody can read those records any more.
                }
            }
            throw gone;
        }
    }

    /** True when nothing behind {@code entries} can matter. */
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

    /** Recovery came across the file of this segment. */
    public synchronized void found(long baseOffset) {
        foundFiles = new ArrayList<>(foundFiles);
        foundFiles.add(baseOffset);
    }

    /**
     * Makes durable what was added. Blocks.
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
     * Takes over the files that a snapshot as of {@code offset} names; what ends behind it is to be added anew. Blocks.
     *
     * @param baseOffsets of the files that it names
     * @param firstBaseOffset of the journal's first segment: files of older ones are gone with them
     * @return false when some are missing or damaged
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
                LOG.error("an index of aborted transactions is of no use: {}", bad.toString());
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

    /** Forgets everything: it is to be added anew. Blocks. */
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
     * Drops the transactions whose ends stand at {@code markerOffsets}: compaction is about to take these markers away,
     * and their records are gone. Durable when this returns. Blocks.
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

    /** Forgets what files hold too; for a journal that nobody uses. */
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

    /** Blocks. */
    public void deleteAll(List<Path> files) {
        for (Path file : files) {
            try {
                store.delete(file);
            } catch (IOException failure) {
                LOG.error("{}: could not be deleted: {}", file, failure.toString());
            }
        }
    }
}
