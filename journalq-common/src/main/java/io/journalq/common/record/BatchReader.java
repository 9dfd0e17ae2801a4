package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.List;

/**
 * Reads what a Fetch answers or a file holds: batches back to back, the last perhaps cut off, and the records in them.
 *
 * <pre>{@code
 * reader.reset(payload);
 * while (reader.nextBatch()) {
 *     while (reader.next()) {
 *         use(reader.offset(), reader.key(), reader.value());
 *     }
 * }
 * reader.close();
 * }</pre>
 *
 * Nothing is decoded before it is asked for: a batch whose records are not read is never decompressed, and a record
 * that is stepped over costs one length. Whatever the bytes, the only exception is {@link CorruptBatchException}.
 *
 * <p>Reusable, one thread. It borrows the payload, which must live until the next {@link #reset} or {@link #close};
 * what it decompressed lives until the next batch.
 */
public final class BatchReader implements AutoCloseable {
    /** Largest size in bytes of the records of one batch after decompression, unless told otherwise. */
    public static final int DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES = 128 * 1024 * 1024;

    private final ByteBufAllocator allocator;
    private final int maxDecompressedSizeBytes;
    private final boolean checkCrc;
    private final RecordCursor cursor = new RecordCursor();
    private ByteBuf payload;
    private int batchIndex;
    private int nextIndex;
    private ByteBuf decompressed;
    private ByteBuf keyView;
    private ByteBuf valueView;
    private int recordsStart;
    private int recordsEnd;
    private boolean opened;

    /** A reader that checks every CRC. */
    public BatchReader(ByteBufAllocator allocator) {
        this(allocator, DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, true);
    }

    /**
     * A reader.
     *
     * @param maxDecompressedSizeBytes largest size of the records of one batch after decompression
     * @param checkCrc false only for bytes that were checked before
     */
    public BatchReader(ByteBufAllocator allocator, int maxDecompressedSizeBytes, boolean checkCrc) {
        this.allocator = allocator;
        this.maxDecompressedSizeBytes = maxDecompressedSizeBytes;
        this.checkCrc = checkCrc;
    }

    /** Starts on the readable bytes of {@code batches}, which is borrowed, its indexes left alone. */
    public void reset(ByteBuf batches) {
        leaveBatch();
        payload = batches;
        nextIndex = batches.readerIndex();
    }

    /**
     * Steps to the next whole batch; false at the end or at a batch that is cut off, which {@link #nextIndex()} tells.
     *
     * @throws CorruptBatchException when the batch is bad; the reader must then be reset
     */
    public boolean nextBatch() {
        leaveBatch();
        int leftBytes = payload == null ? 0 : payload.writerIndex() - nextIndex;
        if (leftBytes <= RecordBatch.MAGIC) {
            return false;
        }
        int lengthBytes = payload.getInt(nextIndex + RecordBatch.LENGTH);
        if (RecordBatch.magic(payload, nextIndex) != RecordBatch.CURRENT_MAGIC) {
            throw new CorruptBatchException("a batch of magic " + RecordBatch.magic(payload, nextIndex));
        }
        if (lengthBytes < RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES) {
            throw new CorruptBatchException("a batch of " + lengthBytes + " bytes");
        }
        if (lengthBytes > leftBytes - RecordBatch.LOG_OVERHEAD_BYTES) {
            return false;
        }
        int sizeBytes = lengthBytes + RecordBatch.LOG_OVERHEAD_BYTES;
        if (checkCrc && RecordBatch.crc(payload, nextIndex) != Crc32c.ofBatch(payload, nextIndex, sizeBytes)) {
            throw new CorruptBatchException("wrong checksum");
        }
        // Compaction may leave a batch without records, and fewer records than offsets.
        if (RecordBatch.recordCount(payload, nextIndex) < 0 || RecordBatch.lastOffsetDelta(payload, nextIndex) < 0) {
            throw new CorruptBatchException("a negative record count or offset");
        }
        batchIndex = nextIndex;
        nextIndex += sizeBytes;
        return true;
    }

    /** Index in the payload of the current batch, for {@link RecordBatch}. */
    public int batchIndex() {
        return batchIndex;
    }

    /** Index in the payload after the current batch: where the next one, or the one cut off, starts. */
    public int nextIndex() {
        return nextIndex;
    }

    /** Whether the current batch holds a transaction marker or the like instead of messages. */
    public boolean isControlBatch() {
        return RecordBatch.isControl(payload, batchIndex);
    }

    public boolean isTransactional() {
        return RecordBatch.isTransactional(payload, batchIndex);
    }

    /** The current batch's producer, {@link RecordBatch#NO_PRODUCER_ID} for none. */
    public long producerId() {
        return RecordBatch.producerId(payload, batchIndex);
    }

    /** Offset of the current batch's first record as it was written. */
    public long baseOffset() {
        return RecordBatch.baseOffset(payload, batchIndex);
    }

    /** Offset after the current batch's last record. */
    public long nextOffset() {
        return RecordBatch.nextOffset(payload, batchIndex);
    }

    /** Records in the current batch as it claims; bounded by nothing. */
    public int recordCount() {
        return RecordBatch.recordCount(payload, batchIndex);
    }

    /**
     * Steps to the next record of the current batch, decompressing it on the first call; false after the last.
     *
     * @throws CorruptBatchException when the records are bad; {@link #nextBatch()} then still works
     */
    public boolean next() {
        if (!opened) {
            open();
        }
        return cursor.next();
    }

    /** The current record's offset. */
    public long offset() {
        return RecordBatch.baseOffset(payload, batchIndex) + cursor.offsetDelta();
    }

    /** The current record's timestamp in milliseconds: the broker's when the topic says so, else the producer's. */
    public long timestampMs() {
        if (RecordBatch.isLogAppendTime(payload, batchIndex)) {
            return RecordBatch.maxTimestamp(payload, batchIndex);
        }
        return RecordBatch.baseTimestamp(payload, batchIndex) + cursor.timestampDelta();
    }

    /**
     * The current record's key, or null: the readable bytes of a view that is the same object for every record, valid
     * until the next step and without a reference of its own. Read it from its reader index.
     */
    public ByteBuf key() {
        return view(keyView, cursor.keyIndex(), cursor.keySizeBytes());
    }

    /** The current record's value, or null, as {@link #key()}. */
    public ByteBuf value() {
        return view(valueView, cursor.valueIndex(), cursor.valueSizeBytes());
    }

    /** Size of the key in bytes, -1 for null. */
    public int keySizeBytes() {
        return cursor.keySizeBytes();
    }

    /** Size of the value in bytes, -1 for null. */
    public int valueSizeBytes() {
        return cursor.valueSizeBytes();
    }

    /** The current record's headers, decoded and copied at each call. */
    public List<Header> headers() {
        return cursor.headers();
    }

    /** Gives back what was decompressed and lets go of the payload. The reader may be reset and used again. */
    @Override
    public void close() {
        leaveBatch();
        payload = null;
    }

    private void open() {
        opened = true;
        int start = batchIndex + RecordBatch.HEADER_SIZE_BYTES;
        ByteBuf data = payload;
        int end = nextIndex;
        int compressionId = RecordBatch.compressionId(payload, batchIndex);
        int count = RecordBatch.recordCount(payload, batchIndex);
        if (count == 0) {
            // Compaction may leave an empty batch that still names its codec.
            start = end;
        } else if (compressionId != CompressionCodec.NONE.id()) {
            CompressionCodec codec = CompressionCodec.of(compressionId);
            if (codec == null) {
                throw new CorruptBatchException("unknown compression " + compressionId);
            }
            decompressed = codec.decompress(payload.slice(start, end - start), maxDecompressedSizeBytes, allocator);
            data = decompressed;
            start = 0;
            end = decompressed.writerIndex();
        }
        keyView = data.duplicate();
        valueView = data.duplicate();
        recordsStart = start;
        recordsEnd = end;
        cursor.reset(data, start, end, count);
    }

    /** Back to before the current batch's first record, without decompressing it again. */
    public void rewind() {
        if (opened) {
            cursor.reset(keyView, recordsStart, recordsEnd, RecordBatch.recordCount(payload, batchIndex));
        }
    }

    RecordCursor cursor() {
        return cursor;
    }

    ByteBuf payload() {
        return payload;
    }

    private void leaveBatch() {
        opened = false;
        cursor.clear();
        keyView = null;
        valueView = null;
        if (decompressed != null) {
            decompressed.release();
            decompressed = null;
        }
    }

    private static ByteBuf view(ByteBuf view, int index, int sizeBytes) {
        return sizeBytes < 0 ? null : view.setIndex(index, index + sizeBytes);
    }
}
