package io.journalq.server.journal.segment;

import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;

/**
 * Checks batches of a segment on the disk before they are sent to a client. A checkpoint covers the data as it was
 * written, but the disk may damage it later. The CRC covers a batch except for its offset, length and epoch, so this
 * class also checks that offsets ascend. The caller holds a reference on the segment. One thread; blocks.
 */
public final class BatchCheck {
    /** Small enough to stay in a core's cache between the read and the checksum. */
    private static final int CHUNK_BYTES = 256 << 10;

    private final Segment segment;
    private final int start;
    private final int end;
    private final Limits limits;
    private int at;
    private int previous;
    private long next;
    /** The offset behind the batch before {@link #previous}, which was the value of {@link #next} there. */
    private long nextOfPrevious;

    private boolean full;
    private boolean damaged;

    /**
     * Limits of the range to check.
     *
     * @param endOffset only batches that end at or before this offset
     * @param maxSizeBytes maximum size in bytes
     * @param atLeastOneBatch the first batch is included even if it is larger
     */
    public record Limits(long endOffset, int maxSizeBytes, boolean atLeastOneBatch) {}

    /** Checks the range from {@code start}, where a batch begins, to {@code end} at most. */
    public BatchCheck(Segment segment, int start, int end, Limits limits) {
        this.segment = segment;
        this.start = start;
        this.end = end;
        this.limits = limits;
        this.at = start;
        this.previous = start;
        this.next = segment.baseOffset();
        this.nextOfPrevious = next;
    }

    /**
     * Finds where the healthy batches within the limits end. If two neighbours contradict each other, neither is
     * considered healthy. Called once.
     *
     * @throws IOException if the file cannot be read
     */
    public int healthyEnd() throws IOException {
        int capacity = Math.min(CHUNK_BYTES, Math.max(RecordBatch.HEADER_SIZE_BYTES, limits.maxSizeBytes));
        while (at < end && !full && !damaged) {
            capacity = Math.min(capacity, end - at);
            ByteBuf chunk = PooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
            try {
                segment.readFully(chunk.internalNioBuffer(0, capacity), at);
                chunk.setIndex(0, capacity);
                capacity = Math.max(CHUNK_BYTES, check(chunk));
            } finally {
                chunk.release();
            }
        }
        if (!damaged && at > start && at < segment.healthyUntil(start, segment.sizeBytes())) {
            compareWithNext();
        }
        return at;
    }

    /** Whether {@link #healthyEnd} stopped at a damaged batch. */
    public boolean isDamaged() {
        return damaged;
    }

    /** Offset behind the last healthy batch, once {@link #healthyEnd} has found it. */
    public long endOffset() {
        return next;
    }

    /**
     * Checks a chunk of the file that begins behind the last whole batch of the previous chunk.
     *
     * @return the minimum size of the next chunk, in bytes
     */
    private int check(ByteBuf chunk) {
        int index = 0;
        while (index < chunk.writerIndex()) {
            int available = chunk.writerIndex() - index;
            int wanted = wantedBytes(chunk, index);
            if (wanted > end - at) {
                damaged = true;
                return 0;
            }
            boolean first = at == start && limits.atLeastOneBatch;
            if (available >= RecordBatch.HEADER_SIZE_BYTES && wanted > limits.maxSizeBytes - (at - start) && !first) {
                full = true;
                return 0;
            }
            if (wanted > available) {
                return wanted;
            }
            if (!isSound(chunk, index, wanted) || RecordBatch.nextOffset(chunk, index) > segment.endOffset()) {
                damaged = true;
                return 0;
            }
            if (RecordBatch.baseOffset(chunk, index) < next) {
                dropLast();
                return 0;
            }
            if (RecordBatch.nextOffset(chunk, index) > limits.endOffset) {
                full = true;
                return 0;
            }
            nextOfPrevious = next;
            next = RecordBatch.nextOffset(chunk, index);
            previous = at;
            at += wanted;
            index += wanted;
        }
        return 0;
    }

    /**
     * Compares the last batch with the one behind it, which is not included: a damaged offset of the last batch
     * contradicts it.
     */
    private void compareWithNext() throws IOException {
        BatchScanner behind = new BatchScanner(segment.file(), at, segment.sizeBytes(), RecordBatch.HEADER_SIZE_BYTES);
        if (behind.next() && behind.baseOffset() < next) {
            dropLast();
        }
    }

    private void dropLast() {
        damaged = true;
        at = previous;
        next = nextOfPrevious;
    }

    /** The size of the batch, as far as its header is in the chunk. */
    private static int wantedBytes(ByteBuf chunk, int index) {
        return chunk.writerIndex() - index < RecordBatch.HEADER_SIZE_BYTES
                ? RecordBatch.HEADER_SIZE_BYTES
                : RecordBatch.sizeBytes(chunk, index);
    }

    /**
     * Whether a broker could have written this header, whatever its checksum: compaction leaves fewer records than
     * offsets, never more.
     */
    static boolean isPossible(ByteBuf header, int at) {
        int lastOffsetDelta = RecordBatch.lastOffsetDelta(header, at);
        int records = RecordBatch.recordCount(header, at);
        return RecordBatch.magic(header, at) == RecordBatch.CURRENT_MAGIC
                && RecordBatch.baseOffset(header, at) >= 0
                && lastOffsetDelta >= 0
                && RecordBatch.nextOffset(header, at) > RecordBatch.baseOffset(header, at)
                && records >= 0
                && records - 1 <= lastOffsetDelta;
    }

    /** Whether {@code sizeBytes} from {@code at} on are one undamaged batch, as far as the batch itself shows. */
    public static boolean isSound(ByteBuf batches, int at, int sizeBytes) {
        return sizeBytes >= RecordBatch.HEADER_SIZE_BYTES
                && isPossible(batches, at)
                && Crc32c.compute(batches, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES)
                        == RecordBatch.crc(batches, at);
    }
}
