package io.journalq.server.journal.read;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SparseIndex;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * Finds the batches for a read without waiting for the disk: first from remembered positions, then from an index in
 * memory and a short scan of the page cache. Otherwise it returns a cold slice. Also limits how many old segments stay
 * open. Owner thread only.
 */
public final class JournalReads {
    /** Number of segments before the last two that may keep their files open after a read. */
    private static final int OPEN_OLD_SEGMENTS = 4;

    /** Null until a batch is written or read: with very many journals, most are idle. */
    private ReadPositions positions;

    /** Null until an old segment is read. */
    private ArrayDeque<Segment> openOldSegments;

    private ReadPositions positions() {
        if (positions == null) {
            positions = new ReadPositions();
        }
        return positions;
    }

    /** Records that a batch was written at {@code position} of the newest segment. */
    public void written(Segment segment, long baseOffset, long nextOffset, int position) {
        positions().add(segment, baseOffset, nextOffset, position);
    }

    public JournalSlice read(Segment[] all, JournalSlice.Search search, int warmSizeBytes) throws IOException {
        for (int i = segmentAt(all, search.offset()); i < all.length; i++) {
            if (all[i].baseOffset() >= search.endOffsetExclusive()) {
                break;
            }
            // Compaction may leave a segment empty, and offsets without a record before the next segment. A segment may
            // also hold only bad bytes, and therefore no offset.
            boolean hasRecords = all[i].sizeBytes() > 0 && all[i].endOffset() > all[i].baseOffset();
            if (hasRecords && search.offset() < all[i].endOffset()) {
                return readSegment(all[i], i >= all.length - 2, search, warmSizeBytes);
            }
        }
        return JournalSlice.EMPTY;
    }

    private JournalSlice readSegment(Segment segment, boolean recent, JournalSlice.Search search, int warmSizeBytes)
            throws IOException {
        Check.that(segment.tryRetain(), "a listed segment can be retained");
        try {
            SparseIndex index = segment.indexInMemory();
            if (!recent || index == null) {
                if (!recent) {
                    opened(segment);
                }
                return JournalSlice.cold(segment, search);
            }
            int warmFrom = segment.warmFrom(warmSizeBytes);
            int start = positions().find(segment, search.offset());
            if (start < 0) {
                int from = index.floorByOffset(search.offset());
                start = from < warmFrom ? from : segment.locate(search.offset(), from);
            }
            return start < warmFrom ? JournalSlice.cold(segment, search) : readWarm(segment, start, search);
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            segment.release();
            throw failure;
        }
    }

    private JournalSlice readWarm(Segment segment, int start, JournalSlice.Search search) throws IOException {
        int limit = segment.healthyUntil(start, limitOf(segment, start, search.endOffsetExclusive()));
        int end = start >= limit ? start : endOf(segment, start, limit, search);
        if (end == start) {
            segment.release();
            return JournalSlice.EMPTY;
        }
        long offsetLimit = Math.min(search.endOffsetExclusive(), segment.endOffset());
        if (end < limit) {
            offsetLimit = Math.min(offsetLimit, rememberReadEnd(segment, end));
        }
        return JournalSlice.warm(segment, start, end - start, offsetLimit);
    }

    private int limitOf(Segment segment, int start, long endOffsetExclusive) throws IOException {
        if (endOffsetExclusive >= segment.endOffset()) {
            return segment.sizeBytes();
        }
        int known = positions().find(segment, endOffsetExclusive);
        if (known >= 0) {
            return known;
        }
        return segment.locate(
                endOffsetExclusive, Math.max(start, segment.index().floorByOffset(endOffsetExclusive)));
    }

    private int endOf(Segment segment, int start, int limit, JournalSlice.Search search) throws IOException {
        if (limit - start <= search.maxSizeBytes()) {
            return limit;
        }
        int known = positions().floorByPosition(segment, start + search.maxSizeBytes());
        return known > start
                ? known
                : segment.boundaryByIndex(start, limit, search.maxSizeBytes(), search.atLeastOneBatch());
    }

    /**
     * Remembers the batch behind a read, because the same consumer reads it next. Returns its offset, which is in its
     * header.
     */
    private long rememberReadEnd(Segment segment, int end) throws IOException {
        BatchScanner scanner =
                new BatchScanner(segment.file(), end, segment.sizeBytes(), RecordBatch.HEADER_SIZE_BYTES);
        if (scanner.next()) {
            positions().addReadEnd(segment, scanner.baseOffset(), end);
            return scanner.baseOffset();
        }
        return segment.endOffset();
    }

    /** Index of the last segment that begins at or before {@code offset}; otherwise of the first. */
    public static int segmentAt(Segment[] all, long offset) {
        int low = 0;
        int high = all.length - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (all[middle].baseOffset() <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /**
     * Notes that an old segment's file is about to be used, and closes the least recently used one if there are too
     * many.
     */
    public void opened(Segment segment) {
        if (openOldSegments == null) {
            openOldSegments = new ArrayDeque<>(OPEN_OLD_SEGMENTS + 1);
        }
        openOldSegments.remove(segment);
        openOldSegments.addLast(segment);
        for (int i = openOldSegments.size(); i > OPEN_OLD_SEGMENTS; i--) {
            Segment oldest = openOldSegments.removeFirst();
            if (!oldest.evict()) {
                openOldSegments.addLast(oldest);
            }
        }
    }

    /** Forgets a segment that is being removed. */
    public void forget(Segment segment) {
        if (openOldSegments != null) {
            openOldSegments.remove(segment);
        }
        positions = null;
    }

    /**
     * Closes all files that are not being read. A file with unsynced data stays open, so that its sync sees every
     * error.
     */
    public void closeIdle(Segment[] all, long flushedOffset) {
        for (Segment segment : all) {
            if (segment.isOpen() && segment.endOffset() <= flushedOffset) {
                segment.evict();
            }
        }
        openOldSegments = null;
    }
}
