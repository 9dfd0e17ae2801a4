package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * What a partition keeps at the end of a transaction: a control batch of one record, whose key says commit or abort and
 * whose value names the coordinator's epoch. Readers of committed records learn from it what became of the batches that
 * the producer wrote before. Immutable.
 *
 * <p>Source: KIP-98, "Control Messages".
 *
 * @param producerId the transaction's producer, 0 or more
 * @param producerEpoch the epoch from which on the producer may write again
 * @param commit whether the transaction commits, else it aborts
 * @param coordinatorEpoch leader epoch of the coordinator's partition; -1 when an administrator wrote the marker
 */
public record TransactionMarker(long producerId, short producerEpoch, boolean commit, int coordinatorEpoch) {
    /** Size of the control batch of a marker. */
    public static final int BATCH_SIZE_BYTES = RecordBatch.HEADER_SIZE_BYTES + 17;

    private static final short VERSION = 0;
    private static final short ABORT_TYPE = 0;
    private static final short COMMIT_TYPE = 1;
    private static final int KEY_SIZE_BYTES = 2 * Short.BYTES;
    private static final int VALUE_SIZE_BYTES = Short.BYTES + Integer.BYTES;

    /** Attributes, timestamp delta, offset delta, number of headers, and the lengths of key and value: a byte each. */
    private static final int RECORD_SIZE_BYTES = 6 + KEY_SIZE_BYTES + VALUE_SIZE_BYTES;

    /**
     * The control batch, with base offset 0 and no leader epoch, complete with CRC. The caller releases it.
     *
     * @param timestampMs when the marker is written, in milliseconds since 1970 UTC
     */
    public ByteBuf encode(ByteBufAllocator allocator, long timestampMs) {
        ByteBuf out = allocator.directBuffer(BATCH_SIZE_BYTES, BATCH_SIZE_BYTES);
        out.writeLong(0).writeInt(BATCH_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES);
        out.writeInt(RecordBatch.NO_LEADER_EPOCH)
                .writeByte(RecordBatch.CURRENT_MAGIC)
                .writeInt(0);
        out.writeShort(RecordBatch.TRANSACTIONAL_FLAG | RecordBatch.CONTROL_FLAG)
                .writeInt(0);
        out.writeLong(timestampMs).writeLong(timestampMs);
        out.writeLong(producerId).writeShort(producerEpoch);
        out.writeInt(RecordBatch.NO_SEQUENCE).writeInt(1);
        writeVarint(out, RECORD_SIZE_BYTES);
        out.writeByte(0).writeByte(0).writeByte(0);
        writeVarint(out, KEY_SIZE_BYTES);
        out.writeShort(VERSION).writeShort(commit ? COMMIT_TYPE : ABORT_TYPE);
        writeVarint(out, VALUE_SIZE_BYTES);
        out.writeShort(VERSION).writeInt(coordinatorEpoch);
        out.writeByte(0);
        RecordBatch.setCrc(out, 0, Crc32c.ofBatch(out, 0, BATCH_SIZE_BYTES));
        return out;
    }

    private static void writeVarint(ByteBuf out, int value) {
        out.writerIndex(Varint.set(out, out.writerIndex(), value));
    }

    /**
     * Reads the marker in a control batch.
     *
     * @param batch a whole batch from {@code index} on, as its length field says
     * @return null when the batch holds something else than the end of a transaction
     */
    public static TransactionMarker read(ByteBuf batch, int index) {
        if (!RecordBatch.isControl(batch, index) || RecordBatch.compressionId(batch, index) != 0) {
            return null;
        }
        RecordCursor cursor = new RecordCursor();
        int end = index + RecordBatch.sizeBytes(batch, index);
        cursor.reset(batch, index + RecordBatch.HEADER_SIZE_BYTES, end, RecordBatch.recordCount(batch, index));
        try {
            if (!cursor.next()
                    || cursor.keySizeBytes() < KEY_SIZE_BYTES
                    || cursor.valueSizeBytes() < VALUE_SIZE_BYTES) {
                return null;
            }
        } catch (CorruptBatchException bad) {
            return null;
        }
        short type = batch.getShort(cursor.keyIndex() + Short.BYTES);
        if (type != ABORT_TYPE && type != COMMIT_TYPE) {
            return null;
        }
        return new TransactionMarker(
                RecordBatch.producerId(batch, index),
                RecordBatch.producerEpoch(batch, index),
                type == COMMIT_TYPE,
                batch.getInt(cursor.valueIndex() + Short.BYTES));
    }
}
