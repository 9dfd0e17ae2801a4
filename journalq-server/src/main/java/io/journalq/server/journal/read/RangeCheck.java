package io.journalq.server.journal.read;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.zip.CRC32C;

/**
 * Reads a range of a log from the disk and checks every batch: its header, its CRC, and that its offsets continue the
 * log. Works on the segments that it was created with, and holds them until it is closed. One thread at a time; blocks.
 */
public final class RangeCheck implements AutoCloseable {
    private static final int CHUNK_BYTES = 256 << 10;
    private static final long NOT_DAMAGED = -1;

    private final Segment[] segments;
    private Range range;
    private ByteBuf target;
    private final CRC32C checksum = new CRC32C();
    /** Everything before this offset was read. */
    private long next;

    private long damagedUntil;
    private int sizeBytes;
    private int batches;
    private boolean full;

    /** @param segments each with a reference, which {@link #close} releases */
    public RangeCheck(Segment[] segments) {
        this.segments = segments;
    }

    /**
     * The range to read.
     *
     * @param offset batches that end at or before it are not read; at least the start of the log
     * @param endOffset batches that begin at or behind it are not read; at most the end of what is written
     * @param maxSizeBytes reading stops before it exceeds this size, but not before the first batch
     * @param mayHaveGaps whether offsets without a batch are in order, as compaction leaves them
     */
    public record Range(long offset, long endOffset, int maxSizeBytes, boolean mayHaveGaps) {}

    /**
     * What was read.
     *
     * @param endOffset everything in the range before this offset was read, and is healthy
     * @param damagedUntil if the records at {@code endOffset} are damaged or missing, the offset of the first healthy
     *     batch behind them, or the end of their segment; otherwise -1
     * @param sizeBytes size of the batches that were read
     * @param batches their number
     * @param checksum CRC-32C of their headers, which contain the CRCs of their records
     */
    public record CheckedRange(long endOffset, long damagedUntil, int sizeBytes, int batches, int checksum) {
        /** Whether the records at {@link #endOffset} are damaged or missing. */
        public boolean isDamaged() {
            return damagedUntil != NOT_DAMAGED;
        }
    }

    /**
     * Reads a range up to the first damage.
     *
     * @param batchesTo gets the healthy batches; null if they are not needed
     * @throws IOException if a file cannot be read
     */
    public CheckedRange run(Range wanted, ByteBuf batchesTo) throws IOException {
        range = wanted;
        target = batchesTo;
        checksum.reset();
        next = wanted.offset();
        damagedUntil = NOT_DAMAGED;
        sizeBytes = 0;
        batches = 0;
        full = false;
        if (segments.length == 0) {
            throw new IOException("the log is closed");
        }
        for (int i = 0; i < segments.length && goesOn(); i++) {
            SegmentExtent extent = segments[i].extent();
            long behind = i + 1 < segments.length ? segments[i + 1].baseOffset() : extent.endOffset();
            if (behind > next) {
                check(segments[i], extent.sizeBytes(), behind);
            }
        }
        return new CheckedRange(next, damagedUntil, sizeBytes, batches, (int) checksum.getValue());
    }

    private boolean goesOn() {
        return next < range.endOffset() && damagedUntil == NOT_DAMAGED && !full;
    }

    /** @param behind base offset of the segment behind this one */
    private void check(Segment segment, int segmentBytes, long behind) throws IOException {
        if (segmentBytes == 0) {
            endSegment(behind);
            return;
        }
        int from = segment.index().floorByOffset(next);
        // Where the next batch of the file begins, or what it may not precede.
        long expected = segment.index().offsetAt(from);
        BatchScanner scanner = new BatchScanner(segment.file(), from, segmentBytes, CHUNK_BYTES);
        while (goesOn()) {
            boolean isBatch = scanner.next();
            if (!isBatch && scanner.atEnd()) {
                endSegment(behind);
                return;
            }
            if (isBatch && continues(segment, scanner, expected, behind)) {
                if (scanner.baseOffset() >= range.endOffset()) {
                    next = range.endOffset();
                    return;
                }
                if (scanner.crcMatches()) {
                    expected = scanner.nextOffset();
                    if (expected > next) {
                        take(scanner);
                    }
                    continue;
                }
            }
            expected = skipDamage(segment, scanner, segmentBytes, expected, behind);
            if (expected > next) {
                damagedUntil = expected;
            }
        }
    }

    /** Whether the offsets of a batch fit behind those of the batches before. */
    private boolean continues(Segment segment, BatchScanner scanner, long expected, long behind) {
        boolean fits = range.mayHaveGaps() ? scanner.baseOffset() >= expected : scanner.baseOffset() == expected;
        return fits && scanner.nextOffset() <= behind && segment.healthyFrom(scanner.position()) == scanner.position();
    }

    private void take(BatchScanner scanner) throws IOException {
        if (batches > 0 && scanner.sizeBytes() > range.maxSizeBytes() - sizeBytes) {
            full = true;
            return;
        }
        byte[] header = new byte[RecordBatch.HEADER_SIZE_BYTES];
        scanner.header().getBytes(0, header);
        checksum.update(header);
        if (target != null) {
            ByteBuf batch = scanner.readBatch();
            target.writeBytes(batch);
            batch.release();
        }
        batches++;
        sizeBytes += scanner.sizeBytes();
        next = scanner.nextOffset();
    }

    /** The file has no more batches. */
    private void endSegment(long behind) {
        if (range.mayHaveGaps()) {
            next = Math.min(behind, range.endOffset());
        } else if (next < behind) {
            damagedUntil = behind;
        }
    }

    /**
     * Moves the scanner to the first healthy batch behind damage.
     *
     * @return the offset of that batch; that behind the segment if there is none
     */
    private static long skipDamage(Segment segment, BatchScanner scanner, int segmentBytes, long expected, long behind)
            throws IOException {
        int bad = scanner.position();
        boolean claimed = scanner.claimedEnd() > bad;
        int candidate = claimed ? scanner.claimedEnd() : scanner.nextCandidate(bad + 1);
        while (candidate < segmentBytes) {
            scanner.skipTo(candidate);
            if (segment.healthyFrom(candidate) == candidate
                    && scanner.next()
                    && scanner.baseOffset() >= expected
                    && scanner.nextOffset() <= behind
                    && scanner.crcMatches()) {
                long found = scanner.baseOffset();
                scanner.skipTo(candidate);
                return found;
            }
            scanner.skipTo(bad);
            candidate = scanner.nextCandidate(claimed ? bad + 1 : candidate + 1);
            claimed = false;
        }
        scanner.skipTo(segmentBytes);
        return behind;
    }

    @Override
    public void close() {
        for (Segment segment : segments) {
            segment.release();
        }
    }
}
