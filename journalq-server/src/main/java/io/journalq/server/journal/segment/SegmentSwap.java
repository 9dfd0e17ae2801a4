package io.journalq.server.journal.segment;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Replaces the segments that a compacted segment was made from, so that a crash at any moment leaves either them or the
 * new segment. Where it matters, each step is durable before the next:
 *
 * <ol>
 *   <li>The new log is written as {@code <base>.cleaned} and synced. The directory is synced too, with the segment
 *       behind those that are replaced. A restart deletes the new log.
 *   <li>The owner renames it to {@code <base>-<end>.swap} and lists the new segment instead of the old ones. From here
 *       on a restart completes the swap: every log whose base offset is in that range has been replaced.
 *   <li>The directory is synced, the old files are renamed for deletion, and the directory is synced again.
 *   <li>A checkpoint that lists neither the old segments nor the new one is written and synced. No checkpoint lists the
 *       new segment until it is at its final path.
 *   <li>The swap file is renamed to {@code <base>.log}, and the directory is synced. The old files are deleted.
 * </ol>
 *
 * <p>{@link #begin} runs on the owner's thread, the later steps on any thread, one at a time.
 */
public final class SegmentSwap {
    public static final String CLEANED_SUFFIX = ".cleaned";
    public static final String SWAP_SUFFIX = ".swap";

    private final FileStore store;
    private final Path directory;
    private final Segment cleaned;
    private final List<Segment> replaced;
    /** Base offset of the segment behind the replaced ones. */
    private final long endOffset;

    private volatile boolean done;

    public SegmentSwap(FileStore store, Path directory, Segment cleaned, List<Segment> replaced, long endOffset) {
        this.store = store;
        this.directory = directory;
        this.cleaned = cleaned;
        this.replaced = replaced;
        this.endOffset = endOffset;
    }

    public Segment cleaned() {
        return cleaned;
    }

    public List<Segment> replaced() {
        return replaced;
    }

    public boolean isDone() {
        return done;
    }

    /** Second step: from here on the new segment replaces the old ones. */
    public void begin() throws IOException {
        cleaned.moveTo(swapPath(directory, cleaned.baseOffset(), endOffset));
    }

    /** Third step. */
    public void retireReplaced() throws IOException {
        store.syncDirectory(directory);
        // The index of the first has the same name as the index of the new segment.
        store.delete(cleaned.indexPath());
        replaced.get(0).renameLog();
        for (Segment old : replaced.subList(1, replaced.size())) {
            old.rename();
        }
        store.syncDirectory(directory);
    }

    /** Last step. */
    public void takePlace() throws IOException {
        cleaned.moveTo(Segment.logPath(directory, cleaned.baseOffset()));
        store.syncDirectory(directory);
        done = true;
        replaced.forEach(Segment::release);
        for (Segment old : replaced) {
            store.delete(old.logPath());
        }
        for (Segment old : replaced.subList(1, replaced.size())) {
            old.deleteRenamed();
        }
    }

    private static Path swapPath(Path directory, long baseOffset, long endOffset) {
        return directory.resolve(Segment.fileName(baseOffset, "-") + Segment.fileName(endOffset, SWAP_SUFFIX));
    }

    /**
     * A swap that was interrupted by a stop.
     *
     * @param baseOffset of the new segment
     * @param endOffset logs before this have been replaced
     */
    public record Interrupted(Path file, long baseOffset, long endOffset) {
        /** Whether the log with base offset {@code offset} has been replaced. */
        public boolean covers(long offset) {
            return offset >= baseOffset && offset < endOffset;
        }

        /** Completes the steps after {@link SegmentSwap#begin}. May be repeated. Blocks. */
        public void complete(FileStore store, Path directory, List<Long> baseOffsets) throws IOException {
            store.syncDirectory(directory);
            for (long offset : baseOffsets) {
                if (covers(offset)) {
                    store.delete(directory.resolve(Segment.fileName(offset, Segment.LOG_SUFFIX)));
                    store.delete(directory.resolve(Segment.fileName(offset, SparseIndex.FILE_SUFFIX)));
                }
            }
            store.delete(directory.resolve(Segment.fileName(baseOffset, SparseIndex.FILE_SUFFIX)));
            store.syncDirectory(directory);
            store.move(file, Segment.logPath(directory, baseOffset));
            store.syncDirectory(directory);
        }
    }

    /** The swap that a file name denotes; null if it denotes none. */
    public static Interrupted interrupted(Path directory, String name) {
        int expectedLength = 2 * Segment.OFFSET_DIGITS + 1 + SWAP_SUFFIX.length();
        if (name.length() != expectedLength
                || !name.endsWith(SWAP_SUFFIX)
                || name.charAt(Segment.OFFSET_DIGITS) != '-') {
            return null;
        }
        try {
            long baseOffset = Long.parseLong(name.substring(0, Segment.OFFSET_DIGITS));
            long endOffset = Long.parseLong(name.substring(Segment.OFFSET_DIGITS + 1, 2 * Segment.OFFSET_DIGITS + 1));
            return baseOffset >= 0 && endOffset > baseOffset
                    ? new Interrupted(directory.resolve(name), baseOffset, endOffset)
                    : null;
        } catch (NumberFormatException noOffset) {
            return null;
        }
    }

    /** All swaps among {@code names}. */
    public static List<Interrupted> interrupted(Path directory, List<String> names) {
        List<Interrupted> found = new ArrayList<>();
        for (String name : names) {
            Interrupted swap = interrupted(directory, name);
            if (swap != null) {
                found.add(swap);
            }
        }
        return found;
    }
}
