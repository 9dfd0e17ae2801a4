package io.journalq.server.journal.segment;

import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;

/**
 * Checks batches of a segment as they lie on the disk before anybody is given them: a checkpoint vouches for what was written,
 * not for what years on a disk make of it. The CRC covers all but offset, length and epoch of a batch; that offsets ascend
 * within their segment is checked besides. Whoever uses it holds a reference on the segment. One thread; blocks.
 */
public final class BatchCheck {
    /** Small enough to stay in a core's cache between the read and the checksum. */
    private static final int CHUNK_BYTES = 256 << 10;

    private final Segment segment;
    private final int end;
    private int at;
    private int previous;
    private long next;
    /** Behind the batch before {@link #previous}, and so what {@link #next} was there. */
    private long nextOfPrevious;

    /** Checks from {@code from}, where a batch begins, to {@code end}, where one ends. */
    public BatchCheck(Segment segment, int from, int end) {
        this.segment = segment;
        this.end = end;
        this.at = from;
        this.previous = from;
        this.next = segment.baseOffset();
        this.nextOfPrevious = next;
    }

    /**
     * Finds where the healthy batches end. Where two neighbours contradict each other, neither is healthy. Called once.
     *
     * @throws IOException when the file cannot be read
     */
    public int healthyEnd() throws IOException {
        int capacity = Math.min(CHUNK_BYTES, end - at);
        while (at < end) {
            ByteBuf chunk = PooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
            try {
                int sizeBytes = Math.min(capacity, end - at);
                segment.readFully(chunk.internalNioBuffer(0, sizeBytes), at);
                chunk.setIndex(0, sizeBytes);
                int wanted = check(chunk);
                if (wanted == 0) {
                    return at;
                }
                capacity = Math.max(CHUNK_BYTES, wanted);
            } finally {
                chunk.release();
            }
        }
        return at;
    }

    /** Offset behind the last healthy batch, once {@link #healthyEnd} has found it. */
    public long endOffset() {
        return next;
    }

    /**
     * Goes through a chunk of the file that begins where the last one's last whole batch ended.
     *
     * @return how large the next chunk has to be at least; 0 when the batch that is now next is damaged
     */
    private int check(ByteBuf chunk) {
        int index = 0;
        while (index < chunk.writerIndex()) {
            int available = chunk.writerIndex() - index;
            int wanted = wantedBytes(chunk, index);
            if (wanted > available) {
                return wanted <= end - at ? wanted : 0;
            }
            if (!isSound(chunk, index, wanted) || RecordBatch.nextOffset(chunk, index) > segment.endOffset()) {
                return 0;
            }
            if (RecordBatch.baseOffset(chunk, index) < next) {
                at = previous;
                next = nextOfPrevious;
                return 0;
            }
            nextOfPrevious = next;
            next = RecordBatch.nextOffset(chunk, index);
            previous = at;
            at += wanted;
            index += wanted;
        }
        return 1;
    }

    /** Size of the batch as far as can be seen of it. */
    private static int wantedBytes(ByteBuf chunk, int index) {
        return chunk.writerIndex() - index < RecordBatch.HEADER_SIZE_BYTES
                ? RecordBatch.HEADER_SIZE_BYTES
                : RecordBatch.sizeBytes(chunk, index);
    }

    /**
     * Whether a header says nothing that no batch of ours could say, whatever its checksum: compaction leaves fewer records
     * than offsets, never more.
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

    private static boolean isSound(ByteBuf batches, int at, int sizeBytes) {
        return sizeBytes >= RecordBatch.HEADER_SIZE_BYTES
                && isPossible(batches, at)
                && Crc32c.compute(batches, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES)
                        == RecordBatch.crc(batches, at);
    }
}
