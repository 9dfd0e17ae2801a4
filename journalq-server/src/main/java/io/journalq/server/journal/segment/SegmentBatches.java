package io.journalq.server.journal.segment;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;

/**
 * All batches of one segment with their records, read in large pieces. The caller holds a reference on the segment. One
 * thread; blocks.
 */
public final class SegmentBatches implements AutoCloseable {
    /** No topic accepts a batch that is larger after decompression. */
    public static final int MAX_DECOMPRESSED_BYTES = 1 << 30;

    private static final int CHUNK_BYTES = 1 << 20;

    private final Segment segment;
    private final int end;
    private final BatchReader reader;
    private ByteBuf chunk;
    private int chunkPosition;
    /** No batch may begin before this offset. */
    private long nextOffset;

    /** Starts at {@code from}, where a batch begins. The caller owns and closes the reader. */
    public SegmentBatches(Segment segment, int from, BatchReader reader) {
        this.segment = segment;
        this.end = segment.sizeBytes();
        this.reader = reader;
        this.chunk = PooledByteBufAllocator.DEFAULT.directBuffer(Math.min(CHUNK_BYTES, Math.max(1, end - from)));
        this.chunkPosition = from;
        this.nextOffset = segment.baseOffset();
        reader.reset(chunk);
    }

    /**
     * Moves the reader to the next batch. A batch's checksum does not cover its offset, so this also checks that
     * offsets ascend within the segment.
     *
     * @throws CorruptJournalException if there is no valid batch
     */
    public boolean next() throws IOException {
        try {
            if (!nextBatch()) {
                return false;
            }
        } catch (InvalidBatchException bad) {
            throw corrupt(bad.getMessage());
        }
        if (reader.baseOffset() < nextOffset || reader.nextOffset() > segment.endOffset()) {
            throw corrupt("a batch of offset " + reader.baseOffset() + ", which is out of order");
        }
        nextOffset = reader.nextOffset();
        return true;
    }

    private boolean nextBatch() throws IOException {
        if (reader.nextBatch()) {
            return true;
        }
        chunkPosition += reader.nextIndex() - chunk.readerIndex();
        if (chunkPosition == end) {
            return false;
        }
        fill();
        if (!reader.nextBatch()) {
            throw new CorruptJournalException(segment.logPath(), chunkPosition, "no batch begins here");
        }
        return true;
    }

    private void fill() throws IOException {
        read(Math.min(chunk.capacity(), end - chunkPosition));
        if (chunk.readableBytes() >= RecordBatch.HEADER_SIZE_BYTES) {
            long sizeBytes = RecordBatch.sizeBytes(chunk, 0);
            if (sizeBytes > chunk.readableBytes() && sizeBytes <= end - chunkPosition) {
                read((int) sizeBytes);
            }
        }
        reader.reset(chunk);
    }

    private void read(int sizeBytes) throws IOException {
        if (sizeBytes > chunk.capacity()) {
            reader.close();
            chunk.release();
            chunk = PooledByteBufAllocator.DEFAULT.directBuffer(sizeBytes);
        }
        segment.readFully(chunk.internalNioBuffer(0, sizeBytes), chunkPosition);
        chunk.setIndex(0, sizeBytes);
    }

    /** The buffer that the reader reads. */
    public ByteBuf payload() {
        return chunk;
    }

    /** An exception for damage at the current batch. */
    private CorruptJournalException corrupt(String reason) {
        return new CorruptJournalException(segment.logPath(), chunkPosition + (long) reader.batchIndex(), reason);
    }

    @Override
    public void close() {
        reader.close();
        chunk.release();
    }
}
