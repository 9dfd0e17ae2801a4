package io.journalq.common.record;

import io.journalq.common.check.Check;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.BitSet;

/**
 * Creates a batch that contains some of the records of another batch, for compaction. Offsets, timestamps, headers,
 * producer state, leader epoch and codec do not change. The first and last offset of the batch do not change either, so
 * that its sequence numbers remain known. Reusable; one thread. {@link #close} releases its buffers.
 */
public final class BatchRewriter implements AutoCloseable {
    /** Does not change the delete horizon. */
    public static final long SAME_HORIZON = -1L;

    private final ByteBufAllocator allocator;
    private ByteBuf records;

    public BatchRewriter(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /**
     * Returns the current batch of {@code reader} with only the records whose index is in {@code kept}. The caller
     * releases it. If no record is kept, the result is a header that still contains the last sequence number of the
     * producer.
     *
     * @param kept indexes of records in the batch, counted from 0
     * @param deleteHorizonMs the time from which its tombstones may be deleted, in milliseconds since 1970 UTC
     *     (KIP-534); or {@link #SAME_HORIZON}
     * @throws InvalidBatchException if the records are invalid
     */
    public ByteBuf rewrite(BatchReader reader, BitSet kept, long deleteHorizonMs) {
        ByteBuf source = reader.payload();
        int batch = reader.batchIndex();
        boolean empty = kept.isEmpty();
        long baseTimestampMs =
                deleteHorizonMs == SAME_HORIZON ? RecordBatch.baseTimestamp(source, batch) : deleteHorizonMs;
        if (records == null) {
            records = allocator.directBuffer();
        }
        records.clear();
        long maxTimestampMs = empty ? RecordBatch.NO_TIMESTAMP : copyRecords(reader, kept, baseTimestampMs);
        ByteBuf target = allocator.directBuffer(RecordBatch.HEADER_SIZE_BYTES + records.readableBytes());
        try {
            target.writeBytes(source, batch, RecordBatch.HEADER_SIZE_BYTES);
            if (!empty) {
                CompressionCodec codec = CompressionCodec.of(RecordBatch.compressionId(source, batch));
                Check.that(codec != null, "records that were read must have a known codec");
                codec.compress(records, target);
            }
            int attributes = RecordBatch.attributes(source, batch);
            if (empty) {
                // Clients decompress also what has no records, and fail because nothing is there.
                attributes &= ~(RecordBatch.COMPRESSION_MASK | RecordBatch.DELETE_HORIZON_FLAG);
            } else if (deleteHorizonMs != SAME_HORIZON) {
                attributes |= RecordBatch.DELETE_HORIZON_FLAG;
            }
            RecordBatch.setAttributes(target, 0, (short) attributes);
            target.setInt(RecordBatch.LENGTH, target.writerIndex() - RecordBatch.LOG_OVERHEAD_BYTES);
            target.setLong(RecordBatch.BASE_TIMESTAMP, empty ? RecordBatch.NO_TIMESTAMP : baseTimestampMs);
            if (!RecordBatch.isLogAppendTime(source, batch) || empty) {
                target.setLong(RecordBatch.MAX_TIMESTAMP, maxTimestampMs);
            }
            target.setInt(RecordBatch.RECORD_COUNT, kept.cardinality());
            RecordBatch.setCrc(target, 0, Crc32c.ofBatch(target, 0, target.writerIndex()));
            return target;
        } catch (RuntimeException | OutOfMemoryError | LinkageError failure) {
            target.release();
            throw failure;
        }
    }

    /** Returns the largest timestamp. */
    private long copyRecords(BatchReader reader, BitSet kept, long baseTimestampMs) {
        RecordCursor cursor = reader.cursor();
        long shiftMs = RecordBatch.baseTimestamp(reader.payload(), reader.batchIndex()) - baseTimestampMs;
        long maxTimestampMs = Long.MIN_VALUE;
        reader.rewind();
        for (int number = 0; reader.next(); number++) {
            if (kept.get(number)) {
                maxTimestampMs = Math.max(maxTimestampMs, reader.timestampMs());
                copy(cursor, cursor.timestampDelta() + shiftMs);
            }
        }
        return maxTimestampMs;
    }

    private void copy(RecordCursor cursor, long timestampDelta) {
        ByteBuf data = cursor.data();
        int restIndex = cursor.offsetDeltaIndex();
        int restBytes = cursor.recordEndIndex() - restIndex;
        int bodyBytes = 1 + Varint.sizeBytes(timestampDelta) + restBytes;
        records.ensureWritable(Varint.MAX_INT_SIZE_BYTES + bodyBytes);
        int at = Varint.set(records, records.writerIndex(), bodyBytes);
        records.setByte(at++, data.getByte(cursor.recordIndex()));
        at = Varint.set(records, at, timestampDelta);
        records.setBytes(at, data, restIndex, restBytes);
        records.writerIndex(at + restBytes);
    }

    @Override
    public void close() {
        if (records != null) {
            records.release();
            records = null;
        }
    }
}
