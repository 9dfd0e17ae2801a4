package io.journalq.server.journal.read;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentBatches;
import io.journalq.server.journal.segment.SegmentState.SegmentTimes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;

/**
 * Lookups that read batches: by time, and all batches from an offset on. Works on the segments that it was created
 * with, and holds them until it is closed. Any thread; every call may block.
 */
public final class JournalSearch implements AutoCloseable {
    private static final int CHUNK_BYTES = 256 << 10;

    /** For a few headers behind a position of the index, which is seldom farther away. */
    private static final int HEADERS_CHUNK_BYTES = 4 << 10;

    private final Segment[] segments;
    private final long startOffset;

    /** @param segments each with a reference, which {@link #close} releases */
    public JournalSearch(Segment[] segments, long startOffset) {
        this.segments = segments;
        this.startOffset = startOffset;
    }

    @Override
    public void close() {
        for (Segment segment : segments) {
            segment.release();
        }
    }

    /** The segments. A log that was closed before the search has none, while an open one has at least one. */
    private Segment[] held() throws IOException {
        if (segments.length == 0) {
            throw new IOException("the log is closed");
        }
        return segments;
    }

    /** Returns whether to continue behind a batch. */
    @FunctionalInterface
    private interface Step {
        boolean goOn(BatchScanner scanner) throws IOException;
    }

    /**
     * Passes every written batch that ends behind {@code fromOffset} to {@code visitor}, so that the owner can replay
     * state derived from batches.
     */
    public void forEachBatch(long fromOffset, BatchVisitor visitor) throws IOException {
        for (Segment segment : held()) {
            if (segment.endOffset() > fromOffset && segment.tryRetain()) {
                try {
                    int from = segment.index().floorByOffset(fromOffset);
                    walk(segment, from, scanner -> {
                        if (scanner.nextOffset() > fromOffset) {
                            visitor.visit(
                                    RecordBatch.isControl(scanner.header(), 0)
                                            ? scanner.readBatch()
                                            : scanner.header());
                        }
                        return true;
                    });
                } finally {
                    segment.release();
                }
            }
        }
    }

    /**
     * The timestamp of the first batch that ends behind {@code offset}: of its first record or, if the broker set the
     * timestamps, of all.
     *
     * @return in milliseconds since 1970 UTC; -1 if there is no such batch, or it has no timestamp
     */
    public long batchTimestampMs(long offset) throws IOException {
        long[] found = {RecordBatch.NO_TIMESTAMP};
        boolean[] done = {false};
        for (Segment segment : held()) {
            if (!done[0] && segment.endOffset() > offset && segment.tryRetain()) {
                try {
                    int from = segment.index().floorByOffset(offset);
                    walk(segment, from, HEADERS_CHUNK_BYTES, scanner -> {
                        if (scanner.nextOffset() <= offset) {
                            return true;
                        }
                        found[0] = firstTimestampMs(segment, scanner);
                        done[0] = true;
                        return false;
                    });
                } finally {
                    segment.release();
                }
            }
        }
        return found[0];
    }

    private long firstTimestampMs(Segment segment, BatchScanner scanner) throws IOException {
        ByteBuf header = scanner.header();
        if (RecordBatch.isLogAppendTime(header, 0)) {
            return RecordBatch.maxTimestamp(header, 0);
        }
        if (!RecordBatch.hasDeleteHorizon(header, 0)) {
            return RecordBatch.baseTimestamp(header, 0);
        }
        // The header has the delete horizon in the place of the timestamp.
        TimestampOffset first = firstRecordAt(segment, scanner, 0);
        return first == null ? RecordBatch.NO_TIMESTAMP : first.timestampMs();
    }

    /** The first readable record at or after {@code timestampMs}; null if there is none. */
    public TimestampOffset findByTimestamp(long timestampMs) throws IOException {
        for (Segment segment : held()) {
            if (segment.maxTimestampMs() >= timestampMs && segment.endOffset() > startOffset && segment.tryRetain()) {
                try {
                    TimestampOffset found = findIn(segment, timestampMs);
                    if (found != null) {
                        return found;
                    }
                } finally {
                    segment.release();
                }
            }
        }
        return null;
    }

    private TimestampOffset findIn(Segment segment, long timestampMs) throws IOException {
        TimestampOffset[] found = new TimestampOffset[1];
        int from = Math.max(
                segment.index().floorByTimestamp(timestampMs), segment.index().floorByOffset(startOffset));
        walk(segment, from, scanner -> {
            boolean mayHold = RecordBatch.maxTimestamp(scanner.header(), 0) >= timestampMs;
            if (mayHold && scanner.nextOffset() > startOffset) {
                found[0] = firstRecordAt(segment, scanner, timestampMs);
            }
            return found[0] == null;
        });
        return found[0];
    }

    /** The first readable record that has the largest timestamp; null if no record has a timestamp. */
    public TimestampOffset maxTimestamp() throws IOException {
        Segment newest = null;
        for (Segment segment : held()) {
            boolean readable = segment.endOffset() > startOffset && segment.maxTimestampMs() >= 0;
            if (readable && (newest == null || segment.maxTimestampMs() > newest.maxTimestampMs())) {
                newest = segment;
            }
        }
        if (newest == null || !newest.tryRetain()) {
            return null;
        }
        try {
            // The batch that the segment remembers may lie before the start offset; then any other may be the newest.
            SegmentTimes times = newest.times();
            return times.maxBatchOffset() >= startOffset ? findIn(newest, times.maxMs()) : newestAfterStart();
        } finally {
            newest.release();
        }
    }

    /**
     * Reads every batch behind the start offset that could hold the newest record. Only needed after records were
     * deleted.
     */
    private TimestampOffset newestAfterStart() throws IOException {
        TimestampOffset[] newest = new TimestampOffset[1];
        for (Segment segment : held()) {
            if (segment.endOffset() > startOffset && segment.tryRetain()) {
                try {
                    walk(segment, segment.index().floorByOffset(startOffset), scanner -> {
                        long knownMs = newest[0] == null ? RecordBatch.NO_TIMESTAMP : newest[0].timestampMs();
                        boolean newer = RecordBatch.maxTimestamp(scanner.header(), 0) > knownMs;
                        if (newer && scanner.nextOffset() > startOffset) {
                            TimestampOffset found = newestRecord(segment, scanner, knownMs);
                            newest[0] = found == null ? newest[0] : found;
                        }
                        return true;
                    });
                } finally {
                    segment.release();
                }
            }
        }
        return newest[0];
    }

    /** The first readable record of a batch at or after {@code timestampMs}; null if there is none. */
    private TimestampOffset firstRecordAt(Segment segment, BatchScanner scanner, long timestampMs) throws IOException {
        return read(segment, scanner, reader -> {
            while (reader.next()) {
                if (reader.timestampMs() >= timestampMs && reader.offset() >= startOffset) {
                    return found(reader, scanner);
                }
            }
            return null;
        });
    }

    /** The first readable record of a batch with the largest timestamp after {@code knownMs}; null for none. */
    private TimestampOffset newestRecord(Segment segment, BatchScanner scanner, long knownMs) throws IOException {
        return read(segment, scanner, reader -> {
            TimestampOffset newest = null;
            long newestMs = knownMs;
            while (reader.next()) {
                if (reader.timestampMs() > newestMs && reader.offset() >= startOffset) {
                    newestMs = reader.timestampMs();
                    newest = found(reader, scanner);
                }
            }
            return newest;
        });
    }

    private static TimestampOffset found(BatchReader reader, BatchScanner scanner) {
        return new TimestampOffset(reader.timestampMs(), reader.offset(), RecordBatch.leaderEpoch(scanner.header(), 0));
    }

    /** Looks for a record in a batch. */
    @FunctionalInterface
    private interface RecordSearch {
        TimestampOffset in(BatchReader reader);
    }

    private static TimestampOffset read(Segment segment, BatchScanner scanner, RecordSearch search) throws IOException {
        ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
        ByteBuf batch = allocator.directBuffer(scanner.sizeBytes(), scanner.sizeBytes());
        try (BatchReader reader = new BatchReader(allocator, SegmentBatches.MAX_DECOMPRESSED_BYTES, true)) {
            segment.readFully(batch.internalNioBuffer(0, scanner.sizeBytes()), scanner.position());
            batch.writerIndex(scanner.sizeBytes());
            reader.reset(batch);
            return reader.nextBatch() ? search.in(reader) : null;
        } catch (InvalidBatchException bad) {
            throw new CorruptJournalException(segment.logPath(), scanner.position(), bad.getMessage());
        } finally {
            batch.release();
        }
    }

    /** Visits the healthy batches from position {@code from} on. */
    private static void walk(Segment segment, int from, Step step) throws IOException {
        walk(segment, from, CHUNK_BYTES, step);
    }

    private static void walk(Segment segment, int from, int mostBytes, Step step) throws IOException {
        int sizeBytes = segment.sizeBytes();
        int position = segment.healthyFrom(from);
        while (position < sizeBytes) {
            int end = segment.healthyUntil(position, sizeBytes);
            int chunkBytes = Math.min(mostBytes, end - position);
            BatchScanner scanner = new BatchScanner(segment.file(), position, end, chunkBytes);
            while (scanner.next()) {
                if (!step.goOn(scanner)) {
                    return;
                }
            }
            if (!scanner.atEnd()) {
                throw new CorruptJournalException(segment.logPath(), scanner.position(), "no batch begins here");
            }
            position = segment.healthyFrom(end);
        }
    }

    /** Visits the batches of a journal in the order of their offsets. */
    @FunctionalInterface
    public interface BatchVisitor {
        /**
         * Visits one batch.
         *
         * @param header its header from index 0 on, for {@link io.journalq.common.record.RecordBatch}; for a control
         *     batch the complete batch. Valid during the call
         */
        void visit(ByteBuf header);
    }

    /**
     * A record found by time.
     *
     * @param timestampMs its timestamp in milliseconds since 1970 UTC
     * @param offset its offset
     * @param leaderEpoch epoch of the leader that wrote it, -1 if unknown
     */
    public record TimestampOffset(long timestampMs, long offset, int leaderEpoch) {}
}
