package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * The marker at the end of a transaction in a partition. It is a control batch with one record. Its key states commit
 * or abort, its value contains the epoch of the coordinator. From it, consumers of committed records learn the outcome
 * of earlier batches of the producer. Immutable.
 *
 * <p>Source: KIP-98, "Control Messages".
 *
 * @param producerId the producer of the transaction, at least 0
 * @param producerEpoch the epoch from which the producer can write again
 * @param commit true for commit, false for abort
 * @param coordinatorEpoch the leader epoch of the coordinator's partition, or -1 if an administrator wrote the marker
 */
public record TransactionMarker(long producerId, short producerEpoch, boolean commit, int coordinatorEpoch) {
    /** The size of the control batch, in bytes. */
    public static final int BATCH_SIZE_BYTES = RecordBatch.HEADER_SIZE_BYTES + 17;

    private static final short VERSION = 0;
    private static final short ABORT_TYPE = 0;
    private static final short COMMIT_TYPE = 1;
    private static final int KEY_SIZE_BYTES = 2 * Short.BYTES;
    private static final int VALUE_SIZE_BYTES = Short.BYTES + Integer.BYTES;

    /** One byte each for attributes, timestamp delta, offset delta, number of headers, key length and value length. */
    private static final int RECORD_SIZE_BYTES = 6 + KEY_SIZE_BYTES + VALUE_SIZE_BYTES;

    /**
     * Encodes the control batch with base offset 0, no leader epoch, and a valid CRC. The caller releases it.
     *
     * @param timestampMs the time of writing, in milliseconds since 1970 UTC
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
     * Reads a marker from a control batch.
     *
     * @param batch a buffer with a complete batch at {@code index}
     * @return null if the batch is not the end of a transaction
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
        } catch (InvalidBatchException bad) {
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
