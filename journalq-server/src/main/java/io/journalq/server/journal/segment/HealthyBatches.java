package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Finds the healthy batches behind damage in a segment that a checkpoint vouches for. A batch is healthy if its checksum
 * matches and its offsets fit between its neighbours'. Slower than other reads: used only after one of them met damage.
 * The caller holds a reference on the segment. One thread; blocks.
 */
public final class HealthyBatches {
    private static final int CHUNK_BYTES = 64 << 10;

    private final Segment segment;
    private final int end;
    private final BatchScanner scanner;
    private int position;
    private long nextOffset;
    private boolean afterDamage;

    /** Where the last batch ends whose offset its neighbours contradict, and how many offsets it has. */
    private int suspectEnd = -1;

    private long suspectOffsets;

    /** Begins at {@code from}, where a batch begins. */
    public HealthyBatches(Segment segment, int from) throws IOException {
        this.segment = segment;
        this.end = segment.sizeBytes();
        this.scanner = new BatchScanner(segment.file(), from, end, CHUNK_BYTES);
        this.position = from;
        this.nextOffset = segment.baseOffset();
    }

    /**
     * Moves to the first healthy batch that ends behind {@code offset}.
     *
     * @return false when there is none, or when the offset may have been in a damaged batch before it
     */
    public boolean find(long offset) throws IOException {
        while (next()) {
            if (nextOffset > offset) {
                return scanner.baseOffset() <= offset || !afterDamage;
            }
        }
        return false;
    }

    /** Moves to the next healthy batch; false when there is none. */
    public boolean next() throws IOException {
        afterDamage = false;
        int at = segment.healthyFrom(position);
        while (at < end) {
            if (isHealthy(at)) {
                position = at + scanner.sizeBytes();
                nextOffset = scanner.nextOffset();
                return true;
            }
            afterDamage = true;
            at = segment.healthyFrom(resume(at));
        }
        return false;
    }

    /** Where the current batch begins. */
    public int position() {
        return scanner.position();
    }

    /** Where the current batch ends. */
    public int endPosition() {
        return position;
    }

    /** Offset behind the current batch. */
    public long nextOffset() {
        return nextOffset;
    }

    private boolean isHealthy(int at) throws IOException {
        scanner.skipTo(at);
        return scanner.next()
                && scanner.baseOffset() >= nextOffset
                && scanner.nextOffset() <= segment.endOffset()
                && scanner.crcMatches()
                && fitsBetweenNeighbours(at);
    }

    /** The checksum does not cover the base offset. Of two batches that contradict each other the contiguous one is right. */
    private boolean fitsBetweenNeighbours(int at) throws IOException {
        if (scanner.baseOffset() == nextOffset) {
            return true;
        }
        if (at == suspectEnd && scanner.baseOffset() != nextOffset + suspectOffsets) {
            return false;
        }
        int batchEnd = at + scanner.sizeBytes();
        BatchScanner behind = new BatchScanner(segment.file(), batchEnd, end, RecordBatch.HEADER_SIZE_BYTES);
        boolean contradicted = behind.next() && behind.baseOffset() < scanner.nextOffset() && behind.crcMatches();
        if (contradicted) {
            suspectEnd = batchEnd;
            suspectOffsets = scanner.nextOffset() - scanner.baseOffset();
        }
        return !contradicted;
    }

    /** Where the next healthy batch begins behind the damaged one at {@code bad}; the segment's size when there is none. */
    private int resume(int bad) throws IOException {
        scanner.skipTo(bad);
        scanner.next();
        int claimedEnd = scanner.claimedEnd();
        if (claimedEnd > bad && (claimedEnd == end || isHealthy(claimedEnd))) {
            return claimedEnd;
        }
        ByteBuf damaged = header(bad);
        int candidate = scanner.nextCandidate(bad + 1);
        while (candidate < end && !(isHealthy(candidate) && isBehind(bad, candidate, damaged))) {
            candidate = scanner.nextCandidate(candidate + 1);
        }
        return candidate;
    }

    /**
     * Whether what looks like a batch is one, and not a part of a record's value. If only the length of the damaged batch is
     * wrong, its checksum tells where it ends.
     */
    private boolean isBehind(int bad, int candidate, ByteBuf damaged) throws IOException {
        boolean looksWhole = RecordBatch.baseOffset(damaged, 0) == nextOffset && BatchCheck.isPossible(damaged, 0);
        return scanner.baseOffset() - nextOffset <= candidate - bad
                && (!looksWhole || BatchScanner.crcMatches(segment.file(), bad, candidate, damaged));
    }

    private ByteBuf header(int at) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(RecordBatch.HEADER_SIZE_BYTES);
        segment.file().read(header, at);
        return Unpooled.wrappedBuffer(header.array());
    }
}
