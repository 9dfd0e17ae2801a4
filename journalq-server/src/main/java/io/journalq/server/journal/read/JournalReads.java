package io.journalq.server.journal.read;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SparseIndex;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * Finds what a read returns, without waiting for the disk: by remembered positions first, then by an index in memory and a
 * short walk through the page cache. Anything else becomes a cold slice. Keeps count of old segments that reads opened.
 * Owner only.
 */
public final class JournalReads {
    /** Segments before the last two that may keep their files open after a read. */
    private static final int OPEN_OLD_SEGMENTS = 4;

    /** Null until a batch is written or read: most of very many journals are idle. */
    private ReadPositions positions;

    /** Null until an old segment is read. */
    private ArrayDeque<Segment> openOldSegments;

    private ReadPositions positions() {
        if (positions == null) {
            positions = new ReadPositions();
        }
        return positions;
    }

    /** A batch was written at {@code position} of the newest segment. */
    public void written(Segment segment, long baseOffset, int position) {
        positions().add(segment, baseOffset, position);
    }

    public JournalSlice read(Segment[] all, JournalSlice.Search search, int warmSizeBytes) throws IOException {
        for (int i = segmentAt(all, search.offset()); i < all.length; i++) {
            if (all[i].baseOffset() >= search.endOffsetExclusive()) {
                break;
            }
            // Compaction may leave a segment empty, and offsets without a record before the next; a segment may also
            // hold
            // nothing but bad bytes, and so no offset.
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
        } catch (IOException | RuntimeException failure) {
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

    /** The batch behind a read is where the same consumer reads next; returns its offset, which stands in its header. */
    private long rememberReadEnd(Segment segment, int end) throws IOException {
        BatchScanner scanner =
                new BatchScanner(segment.file(), end, segment.sizeBytes(), RecordBatch.HEADER_SIZE_BYTES);
        if (scanner.next()) {
            positions().addReadEnd(segment, scanner.baseOffset(), end);
            return scanner.baseOffset();
        }
        return segment.endOffset();
    }

    /** The last segment that begins at or before {@code offset}, else the first. */
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

    /** An old segment's file is about to be used; the one unused for longest may be closed for it. */
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

    /** The segment goes away. */
    public void forget(Segment segment) {
        if (openOldSegments != null) {
            openOldSegments.remove(segment);
        }
        positions = null;
    }

    /** Closes all files that nobody reads just now; one with unflushed data stays, so that its sync sees every error. */
    public void closeIdle(Segment[] all, long flushedOffset) {
        for (Segment segment : all) {
            if (segment.isOpen() && segment.endOffset() <= flushedOffset) {
                segment.evict();
            }
        }
        openOldSegments = null;
    }
}
