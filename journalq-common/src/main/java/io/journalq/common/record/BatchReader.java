package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.List;

/**
 * Reads the content of a Fetch response or a file: adjacent batches and their
 * records.
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
 * <p>Data is decoded on demand: a batch is decompressed only if its records are read, and skipping a record decodes
 * only its length. Invalid bytes cause only {@link InvalidBatchException}.
 *
 * <p>Reusable, one thread. The payload is borrowed and must stay valid until the next {@link #reset} or {@link #close}.
 * Decompressed data is valid until the next batch.
 */
public final class BatchReader implements AutoCloseable {
    /** The default maximum size of the records of a batch after decompression, in bytes. */
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

    /** Creates a reader that verifies all CRCs. */
    public BatchReader(ByteBufAllocator allocator) {
        this(allocator, DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, true);
    }

    /**
     * Creates a reader.
     *
     * @param maxDecompressedSizeBytes the maximum size of the records of a batch after decompression
     * @param checkCrc false only for bytes that have already been verified
     */
    public BatchReader(ByteBufAllocator allocator, int maxDecompressedSizeBytes, boolean checkCrc) {
        this.allocator = allocator;
        this.maxDecompressedSizeBytes = maxDecompressedSizeBytes;
        this.checkCrc = checkCrc;
    }

    /** Starts reading the readable bytes of {@code batches}. The buffer is borrowed, and its indexes do not change. */
    public void reset(ByteBuf batches) {
        leaveBatch();
        payload = batches;
        nextIndex = batches.readerIndex();
    }

    /**
     * Steps to the next complete batch. Returns false at the end or at an incomplete batch, which starts at {@link
     * #nextIndex()}.
     *
     * @throws InvalidBatchException if the batch is invalid; the reader must then be reset
     */
    public boolean nextBatch() {
        leaveBatch();
        int leftBytes = payload == null ? 0 : payload.writerIndex() - nextIndex;
        int sizeBytes = RecordBatch.completeSizeBytes(payload, nextIndex, leftBytes);
        if (sizeBytes == 0) {
            return false;
        }
        if (checkCrc && RecordBatch.crc(payload, nextIndex) != Crc32c.ofBatch(payload, nextIndex, sizeBytes)) {
            throw new InvalidBatchException("wrong checksum");
        }
        RecordBatch.requireCounts(payload, nextIndex);
        batchIndex = nextIndex;
        nextIndex += sizeBytes;
        return true;
    }

    /** The index of the current batch in the payload, for {@link RecordBatch}. */
    public int batchIndex() {
        return batchIndex;
    }

    /** The index after the current batch in the payload, where the next or incomplete batch starts. */
    public int nextIndex() {
        return nextIndex;
    }

    /** Whether the current batch is a control batch, for example a transaction marker. */
    public boolean isControlBatch() {
        return RecordBatch.isControl(payload, batchIndex);
    }

    public boolean isTransactional() {
        return RecordBatch.isTransactional(payload, batchIndex);
    }

    /** The producer id of the current batch, or {@link RecordBatch#NO_PRODUCER_ID}. */
    public long producerId() {
        return RecordBatch.producerId(payload, batchIndex);
    }

    /** The base offset of the current batch. */
    public long baseOffset() {
        return RecordBatch.baseOffset(payload, batchIndex);
    }

    /** The offset after the last record of the current batch. */
    public long nextOffset() {
        return RecordBatch.nextOffset(payload, batchIndex);
    }

    /** The number of records that the header of the current batch states. It is not verified. */
    public int recordCount() {
        return RecordBatch.recordCount(payload, batchIndex);
    }

    /**
     * Steps to the next record of the current batch. The first call decompresses the batch. Returns false after the
     * last record.
     *
     * @throws InvalidBatchException if the records are invalid; {@link #nextBatch()} can still be called
     */
    public boolean next() {
        if (!opened) {
            open();
        }
        return cursor.next();
    }

    /** The offset of the current record. */
    public long offset() {
        return RecordBatch.baseOffset(payload, batchIndex) + cursor.offsetDelta();
    }

    /**
     * The timestamp of the current record in milliseconds. The broker sets it if the topic says so, otherwise the
     * producer.
     */
    public long timestampMs() {
        if (RecordBatch.isLogAppendTime(payload, batchIndex)) {
            return RecordBatch.maxTimestamp(payload, batchIndex);
        }
        return RecordBatch.baseTimestamp(payload, batchIndex) + cursor.timestampDelta();
    }

    /**
     * The key of the current record, or null. It is the same view for all records, without a reference of its own, and
     * valid until the next step. Read it from its reader index.
     */
    public ByteBuf key() {
        return view(keyView, cursor.keyIndex(), cursor.keySizeBytes());
    }

    /** The value of the current record, or null. See {@link #key()}. */
    public ByteBuf value() {
        return view(valueView, cursor.valueIndex(), cursor.valueSizeBytes());
    }

    /** The size of the key in bytes, or -1 for null. */
    public int keySizeBytes() {
        return cursor.keySizeBytes();
    }

    /** The size of the value in bytes, or -1 for null. */
    public int valueSizeBytes() {
        return cursor.valueSizeBytes();
    }

    /** The headers of the current record. Each call decodes and copies them. */
    public List<Header> headers() {
        return cursor.headers();
    }

    /**
     * Decodes all fields of the current record, so that none of them fails later.
     *
     * @throws InvalidBatchException if one is invalid
     */
    public void check() {
        cursor.check();
    }

    /** The memory that the decompressed records of the current batch use. */
    public int decompressedBytes() {
        return decompressed == null ? 0 : decompressed.capacity();
    }

    /** Releases the decompressed data and the payload. The reader can be reset and used again. */
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
            // After compaction, an empty batch can still have a codec.
            start = end;
        } else if (compressionId != CompressionCodec.NONE.id()) {
            CompressionCodec codec = CompressionCodec.of(compressionId);
            if (codec == null) {
                throw new InvalidBatchException("unknown compression " + compressionId);
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

    /** Returns to the position before the first record of the current batch, without decompressing it again. */
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
