package io.journalq.server.journal.segment;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.journalq.server.journal.segment.SegmentState.SegmentTimes;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One log file and its index, each opened when it is first needed. The journal's owner loop appends and truncates. Any
 * thread that holds a reference may search and read the part that {@link #extent} covers. The file is closed when the
 * last reference is released, so that a slice on its way to a socket outlives the deletion of its segment.
 */
public final class Segment {
    public static final String LOG_SUFFIX = ".log";

    /**
     * Suffix of a log file whose predecessor may not be durable yet: a power loss may take the end of the predecessor
     * and leave this file. Nothing in this file is acknowledged as durable until it is {@link #settle settled}.
     */
    public static final String TAIL_SUFFIX = ".tail";

    /** Digits of the first offset in the name of a segment's file. */
    public static final int OFFSET_DIGITS = 20;

    /** Suffix of files and directories that wait to be deleted. */
    public static final String DELETED_SUFFIX = ".deleted";

    /** Positions are 32-bit, and a batch may begin just below the limit. */
    public static final int MAX_SIZE_BYTES = 1 << 30;

    /** Size of one read while scanning from an index entry to the requested batch. */
    private static final int LOOK_UP_CHUNK_BYTES = 16 << 10;

    private static final int REWRITE_CHUNK_BYTES = 1 << 20;
    private static final int EVICTING = -1;
    private static final int[] NO_BAD_RANGES = {};
    private static final Logger LOG = LoggerFactory.getLogger(Segment.class);

    private final FileStore store;
    private final Path directory;
    private final long baseOffset;
    private final int indexIntervalBytes;
    private final AtomicInteger references = new AtomicInteger(1);

    /**
     * Size in bytes in the upper half, number of offsets in the lower half: a single value, so that readers never see
     * half an update.
     */
    private volatile long extent;

    private volatile int[] badRanges = NO_BAD_RANGES;
    /**
     * Where the log file is while it is not at its final path. Null otherwise, which is the case for almost all
     * segments.
     */
    private volatile Path otherLogPath;

    private volatile LogFile file;
    private volatile SparseIndex index;
    /** Data behind this position was written since the journal was opened. Owner thread only. */
    private int writtenFrom;
    /** Number of bytes of the segment that its index file covers. */
    private volatile int indexedFileBytes;

    // Written by the owner before it publishes the extent.
    private long firstTimestampMs = -1;
    private long maxTimestampMs = -1;
    private long maxTimestampBatchOffset = -1;

    public Segment(FileStore store, Path directory, long baseOffset, int indexIntervalBytes) {
        this.store = store;
        this.directory = directory;
        this.baseOffset = baseOffset;
        this.indexIntervalBytes = indexIntervalBytes;
    }

    /** A segment behind one that may not be synced. */
    public static Segment following(FileStore store, Path directory, long baseOffset, int indexIntervalBytes) {
        return at(store, tailPath(directory, baseOffset), baseOffset, indexIntervalBytes);
    }

    /** A segment whose log file is not at its final path yet: {@link #moveTo} moves it there. */
    public static Segment at(FileStore store, Path logPath, long baseOffset, int indexIntervalBytes) {
        Segment segment = new Segment(store, logPath.getParent(), baseOffset, indexIntervalBytes);
        segment.setLogPath(logPath);
        return segment;
    }

    /** A segment in the state in which its index file was last written. */
    public static Segment restored(FileStore store, Path directory, SegmentState state, int interval) {
        Segment segment = new Segment(store, directory, state.extent().baseOffset(), interval);
        segment.restoreTimes(state.times());
        segment.badRanges = state.badRanges();
        segment.writtenFrom = state.extent().sizeBytes();
        segment.indexedFileBytes = state.extent().sizeBytes();
        segment.setExtent(state.extent().sizeBytes(), state.extent().endOffset());
        return segment;
    }

    /** A name of twenty digits, independent of the locale, so that names sort in the order of offsets. */
    public static String fileName(long offset, String suffix) {
        String digits = Long.toString(offset);
        return "0".repeat(OFFSET_DIGITS - digits.length()) + digits + suffix;
    }

    public long baseOffset() {
        return baseOffset;
    }

    public int indexIntervalBytes() {
        return indexIntervalBytes;
    }

    /** The current path of the log file. */
    public Path logPath() {
        Path other = otherLogPath;
        return other != null ? other : logPath(directory, baseOffset);
    }

    private void setLogPath(Path path) {
        otherLogPath = path.equals(logPath(directory, baseOffset)) ? null : path;
    }

    private boolean isNamed(String suffix) {
        Path other = otherLogPath;
        return other != null && other.toString().endsWith(suffix);
    }

    /** The final path of the log file for a base offset. */
    public static Path logPath(Path directory, long baseOffset) {
        return directory.resolve(fileName(baseOffset, LOG_SUFFIX));
    }

    public static Path tailPath(Path directory, long baseOffset) {
        return directory.resolve(fileName(baseOffset, TAIL_SUFFIX));
    }

    /** Whether a file with this name is a segment's log. */
    public static boolean isLog(String fileName) {
        return fileName.endsWith(LOG_SUFFIX) || fileName.endsWith(TAIL_SUFFIX);
    }

    /** Whether all data before this segment is known to be durable. */
    public boolean isSettled() {
        return !isNamed(TAIL_SUFFIX);
    }

    /**
     * Whether the log file is at its final path. Until a {@link SegmentSwap} is complete, a power loss may bring back
     * the segments that it replaces.
     */
    public boolean isInPlace() {
        return !isNamed(SegmentSwap.SWAP_SUFFIX);
    }

    Path indexPath() {
        return directory.resolve(fileName(baseOffset, SparseIndex.FILE_SUFFIX));
    }

    public int sizeBytes() {
        return (int) (extent >>> 32);
    }

    public long endOffset() {
        return baseOffset + (extent & 0xFFFF_FFFFL);
    }

    public SegmentExtent extent() {
        long now = extent;
        return new SegmentExtent(baseOffset, (int) (now >>> 32), baseOffset + (now & 0xFFFF_FFFFL));
    }

    public void setExtent(int sizeBytes, long endOffset) {
        extent = ((long) sizeBytes << 32) | (endOffset - baseOffset);
    }

    public void setWrittenFrom(int position) {
        writtenFrom = position;
    }

    /** Data behind this position was written recently by this process. Owner thread only. */
    public int warmFrom(int warmSizeBytes) {
        return Math.max(writtenFrom, sizeBytes() - warmSizeBytes);
    }

    public SegmentTimes times() {
        return new SegmentTimes(firstTimestampMs, maxTimestampMs, maxTimestampBatchOffset);
    }

    public long firstTimestampMs() {
        return firstTimestampMs;
    }

    public long maxTimestampMs() {
        return maxTimestampMs;
    }

    void restoreTimes(SegmentTimes times) {
        firstTimestampMs = times.firstMs();
        maxTimestampMs = times.maxMs();
        maxTimestampBatchOffset = times.maxBatchOffset();
    }

    public int[] badRanges() {
        return badRanges;
    }

    void setBadRanges(int[] ranges) {
        badRanges = ranges;
    }

    int indexedFileBytes() {
        return indexedFileBytes;
    }

    /**
     * Adds a batch at {@code position} of the file to the index. Owner thread only; {@link #setExtent} publishes it.
     */
    public void note(ByteBuf header, int at, int position, SparseIndex into) {
        long batchOffset = RecordBatch.baseOffset(header, at);
        into.add(batchOffset, position, maxTimestampMs);
        long timestampMs = RecordBatch.maxTimestamp(header, at);
        if (firstTimestampMs < 0) {
            firstTimestampMs = timestampMs;
        }
        if (timestampMs > maxTimestampMs) {
            maxTimestampBatchOffset = batchOffset;
            maxTimestampMs = timestampMs;
        }
    }

    public boolean tryRetain() {
        while (true) {
            int now = references.get();
            if (now == 0) {
                return false;
            }
            if (now > 0 && references.compareAndSet(now, now + 1)) {
                return true;
            }
            Thread.onSpinWait();
        }
    }

    public void release() {
        int left = references.decrementAndGet();
        Check.that(left >= 0, "a segment was released more often than retained");
        if (left == 0) {
            closeFile();
        }
    }

    public boolean isOpen() {
        return file != null;
    }

    /** Closes the file unless it is in use, and drops the index if its file is complete. Owner thread only. */
    public boolean evict() {
        if (!references.compareAndSet(1, EVICTING)) {
            return false;
        }
        closeFile();
        boolean saved = sizeBytes() <= indexedFileBytes;
        if (saved) {
            index = null;
        }
        references.set(1);
        return saved;
    }

    private synchronized void closeFile() {
        LogFile open = file;
        file = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException failure) {
                LOG.warn("could not close {}: {}", logPath(), failure.toString());
            }
        }
    }

    public LogFile file() throws IOException {
        LogFile open = file;
        return open != null ? open : openFile();
    }

    private synchronized LogFile openFile() throws IOException {
        if (file == null) {
            file = store.open(logPath(), sizeBytes() == 0);
        }
        return file;
    }

    /** The index, read from its file, or rebuilt from the log if the file is missing or bad. May block. */
    public SparseIndex index() throws IOException {
        SparseIndex loaded = index;
        return loaded != null ? loaded : loadIndex();
    }

    /** The index if it is in memory, else null. */
    public SparseIndex indexInMemory() {
        return index;
    }

    public void setIndex(SparseIndex newIndex, int fileCoversBytes) {
        index = newIndex;
        indexedFileBytes = fileCoversBytes;
    }

    private synchronized SparseIndex loadIndex() throws IOException {
        if (index == null) {
            int sizeBytes = sizeBytes();
            index = sizeBytes == 0 ? new SparseIndex(baseOffset, indexIntervalBytes) : readIndex(sizeBytes);
        }
        return index;
    }

    private SparseIndex readIndex(int sizeBytes) throws IOException {
        if (isRenamed()) {
            // The file with the name of this index can be that of a segment that has taken the place of this one.
            return rebuildIndex(sizeBytes);
        }
        try {
            byte[] content = store.read(indexPath(), SparseIndex.MAX_FILE_SIZE_BYTES);
            // A crash may leave an index that is ahead of the checkpoint.
            return SparseIndex.decode(indexPath(), content, baseOffset, sizeBytes, indexIntervalBytes)
                    .prefix(sizeBytes);
        } catch (CorruptJournalException | NoSuchFileException bad) {
            LOG.warn("rebuilding {}: {}", indexPath(), bad.toString());
            return rebuildIndex(sizeBytes);
        }
    }

    /** Reads every header of the first {@code upTo} bytes; the batches there are trusted. */
    private SparseIndex rebuildIndex(int upTo) throws IOException {
        indexedFileBytes = 0;
        SparseIndex rebuilt = new SparseIndex(baseOffset, indexIntervalBytes);
        long maxBefore = -1;
        long nextOffset = baseOffset;
        int from = 0;
        while (from < upTo) {
            int start = healthyFrom(from);
            int end = healthyUntil(start, upTo);
            BatchScanner scanner = new BatchScanner(file(), start, end, 1 << 20);
            while (scanner.next()) {
                if (scanner.baseOffset() >= nextOffset && scanner.nextOffset() <= endOffset()) {
                    rebuilt.add(scanner.baseOffset(), scanner.position(), maxBefore);
                    nextOffset = scanner.nextOffset();
                }
                maxBefore = Math.max(maxBefore, RecordBatch.maxTimestamp(scanner.header(), 0));
            }
            from = Math.max(end, start + 1);
        }
        return rebuilt;
    }

    /**
     * Writes the index file for the first {@code sizeBytes} of the log. Any thread that holds the flush lock; blocks.
     */
    public void saveIndex(int sizeBytes) throws IOException {
        SparseIndex loaded = index;
        if (loaded != null && sizeBytes > indexedFileBytes) {
            store.replace(indexPath(), loaded.encode(sizeBytes), false);
            indexedFileBytes = sizeBytes;
        }
    }

    /** Deletes the index file. Blocks. */
    public void deleteIndex() throws IOException {
        store.delete(indexPath());
    }

    /** The first position at or behind {@code position} that is not in a bad range. */
    public int healthyFrom(int position) {
        int[] bad = badRanges;
        int at = position;
        for (int i = 0; i < bad.length; i += 2) {
            if (at >= bad[i] && at < bad[i + 1]) {
                at = bad[i + 1];
            }
        }
        return at;
    }

    /** Where the healthy range around {@code position} ends, at most {@code limit}. */
    public int healthyUntil(int position, int limit) {
        int[] bad = badRanges;
        for (int i = 0; i < bad.length; i += 2) {
            if (bad[i] > position) {
                return Math.min(bad[i], limit);
            }
        }
        return limit;
    }

    /**
     * Position of the first batch that ends behind {@code offset}: the one that holds it, or the next one after a gap.
     * The segment's size if there is none. May block.
     *
     * @param from position of a batch at or before the requested one
     */
    public int locate(long offset, int from) throws IOException {
        int sizeBytes = sizeBytes();
        int position = from;
        while (position < sizeBytes) {
            position = healthyFrom(position);
            int end = healthyUntil(position, sizeBytes);
            BatchScanner scanner = new BatchScanner(file(), position, end, LOOK_UP_CHUNK_BYTES);
            while (scanner.next()) {
                if (scanner.nextOffset() > offset) {
                    return scanner.position();
                }
            }
            throwUnlessAtEnd(scanner);
            position = end;
        }
        return sizeBytes;
    }

    /**
     * Position of the batch that holds {@code offset}, checked against the index and the batches before it. May block.
     *
     * @return -1 if there is a gap or a contradiction: then {@link HealthyBatches} finds the batch
     */
    public int locateChecked(long offset) throws IOException {
        int from = index().floorByOffset(offset);
        long leastOffset = index().offsetAt(from);
        boolean isNoted = from > 0;
        BatchScanner scanner = new BatchScanner(file(), from, healthyUntil(from, sizeBytes()), LOOK_UP_CHUNK_BYTES);
        while (healthyFrom(from) == from && scanner.next()) {
            long batchOffset = scanner.baseOffset();
            if (batchOffset < leastOffset || (isNoted && batchOffset > leastOffset)) {
                return -1;
            }
            if (scanner.nextOffset() > offset) {
                return batchOffset <= offset ? scanner.position() : -1;
            }
            isNoted = false;
            leastOffset = scanner.nextOffset();
        }
        return -1;
    }

    /**
     * The end of the largest range of whole batches from {@code start} that has at most {@code maxSizeBytes}. May
     * block.
     *
     * @param known position of a batch that is not before {@code start} and is within the limit
     * @param limit maximum end; a batch begins or ends there
     * @param atLeastOneBatch true to include the first batch even if it is larger
     */
    int boundary(int start, int known, int limit, int maxSizeBytes, boolean atLeastOneBatch) throws IOException {
        int end = known;
        BatchScanner scanner = new BatchScanner(file(), known, limit, LOOK_UP_CHUNK_BYTES);
        while (scanner.next()) {
            int next = scanner.position() + scanner.sizeBytes();
            boolean fits = next - start <= maxSizeBytes;
            if (!fits && !(atLeastOneBatch && end == start)) {
                return end;
            }
            end = next;
            if (!fits) {
                return end;
            }
        }
        throwUnlessAtEnd(scanner);
        return end;
    }

    /** Like {@link #boundary}, starting with the index. May block. */
    public int boundaryByIndex(int start, int limit, int maxSizeBytes, boolean atLeastOneBatch) throws IOException {
        if (limit - start <= maxSizeBytes) {
            return limit;
        }
        int known = Math.max(start, index().floorByPosition(start + maxSizeBytes));
        // When most of the size is used, the rest of an index interval is not worth a read.
        boolean goodEnough = known - start > maxSizeBytes / 2;
        return goodEnough ? known : boundary(start, known, limit, maxSizeBytes, atLeastOneBatch);
    }

    private void throwUnlessAtEnd(BatchScanner scanner) throws IOException {
        if (!scanner.atEnd()) {
            throw new CorruptJournalException(logPath(), scanner.position(), "no batch begins here");
        }
    }

    /** Writes all data from {@code from} on, and the end of the file, once more, unchanged. Blocks. */
    public void rewrite(int from) throws IOException {
        int sizeBytes = sizeBytes();
        ByteBuffer chunk = ByteBuffer.allocate(Math.max(0, Math.min(REWRITE_CHUNK_BYTES, sizeBytes - from)));
        for (int position = from; position < sizeBytes; position += chunk.capacity()) {
            chunk.clear().limit(Math.min(chunk.capacity(), sizeBytes - position));
            readFully(chunk, position);
            file().write(chunk.flip(), position);
        }
        // The disk can hold removed batches behind the end.
        file().truncate(sizeBytes);
    }

    /** Fills {@code target} from {@code position}. May block. */
    public void readFully(ByteBuffer target, int position) throws IOException {
        int wanted = target.remaining();
        if (file().read(target, position) < wanted) {
            throw new CorruptJournalException(logPath(), position, "the file is shorter than its batches");
        }
    }

    /**
     * Renames the files so that they are no longer part of the journal; {@link #deleteRenamed} deletes them. Readers
     * continue with the files that they have open.
     */
    public void rename() throws IOException {
        renameLog();
        moveIfThere(indexPath(), deletedPath(indexPath()));
    }

    /** Like {@link #rename}, when another segment has taken over the name of the index. */
    synchronized void renameLog() throws IOException {
        if (references.get() > 1) {
            // A cold slice may not have opened the file yet, and could not open it after the deletion.
            file();
        }
        if (!isRenamed()) {
            Path renamed = deletedPath(logPath());
            moveIfThere(logPath(), renamed);
            setLogPath(renamed);
        }
    }

    /** Renames the log file unless it was renamed for deletion. */
    synchronized void moveTo(Path newPath) throws IOException {
        if (!isRenamed() && !logPath().equals(newPath)) {
            store.move(logPath(), newPath);
            setLogPath(newPath);
        }
    }

    /**
     * Gives the log its final name, because all data before it is durable. The name is durable once the directory is
     * synced. Any thread; blocks.
     */
    public synchronized void settle() throws IOException {
        if (!isSettled()) {
            Path settled = logPath(directory, baseOffset);
            moveIfThere(logPath(), settled);
            setLogPath(settled);
        }
    }

    private boolean isRenamed() {
        return isNamed(DELETED_SUFFIX);
    }

    private void moveIfThere(Path path, Path renamed) throws IOException {
        try {
            store.move(path, renamed);
        } catch (NoSuchFileException missing) {
            // An empty segment has no file yet, and the index is written later.
        }
    }

    /** Any thread; blocks. */
    public void deleteRenamed() throws IOException {
        store.delete(logPath());
        store.delete(deletedPath(indexPath()));
    }

    private static Path deletedPath(Path path) {
        return path.resolveSibling(path.getFileName() + DELETED_SUFFIX);
    }
}
