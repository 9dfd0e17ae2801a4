package io.journalq.common.record;

import io.netty.buffer.ByteBuf;

/**
 * The layout of a record batch (magic 2) and access to its fields in place. The batch on the wire is also the batch in
 * the log. Nothing here copies or decodes records.
 *
 * <p>Every method takes the index of the first byte of the batch in {@code buffer} and checks nothing. For bytes from
 * the network or a file, the caller first checks that {@link #HEADER_SIZE_BYTES} are available. Stateless; any thread.
 *
 * <p>Source: Kafka protocol guide, "Record Batch"; KIP-98.
 */
public final class RecordBatch {
    public static final int BASE_OFFSET = 0;
    public static final int LENGTH = 8;
    public static final int LEADER_EPOCH = 12;
    public static final int MAGIC = 16;
    public static final int CRC = 17;
    public static final int ATTRIBUTES = 21;
    public static final int LAST_OFFSET_DELTA = 23;
    public static final int BASE_TIMESTAMP = 27;
    public static final int MAX_TIMESTAMP = 35;
    public static final int PRODUCER_ID = 43;
    public static final int PRODUCER_EPOCH = 51;
    public static final int BASE_SEQUENCE = 53;
    public static final int RECORD_COUNT = 57;

    /** The number of bytes before the first record. */
    public static final int HEADER_SIZE_BYTES = 61;

    /** The number of bytes that the length field does not count: base offset and length. */
    public static final int LOG_OVERHEAD_BYTES = 12;

    public static final byte CURRENT_MAGIC = 2;

    public static final int COMPRESSION_MASK = 0x07;
    public static final int LOG_APPEND_TIME_FLAG = 0x08;
    public static final int TRANSACTIONAL_FLAG = 0x10;
    public static final int CONTROL_FLAG = 0x20;
    public static final int DELETE_HORIZON_FLAG = 0x40;

    public static final long NO_TIMESTAMP = -1L;
    public static final long NO_PRODUCER_ID = -1L;
    public static final short NO_PRODUCER_EPOCH = -1;
    public static final int NO_SEQUENCE = -1;
    public static final int NO_LEADER_EPOCH = -1;

    private RecordBatch() {}

    /**
     * The size of the whole batch in bytes, including the header, according to its length field. In invalid bytes it
     * can be any number.
     */
    public static int sizeBytes(ByteBuf buffer, int index) {
        return buffer.getInt(index + LENGTH) + LOG_OVERHEAD_BYTES;
    }

    public static long baseOffset(ByteBuf buffer, int index) {
        return buffer.getLong(index + BASE_OFFSET);
    }

    public static void setBaseOffset(ByteBuf buffer, int index, long offset) {
        buffer.setLong(index + BASE_OFFSET, offset);
    }

    /** The offset of the last record. */
    public static long lastOffset(ByteBuf buffer, int index) {
        return baseOffset(buffer, index) + lastOffsetDelta(buffer, index);
    }

    /** The offset after the last record. */
    public static long nextOffset(ByteBuf buffer, int index) {
        return lastOffset(buffer, index) + 1;
    }

    public static int leaderEpoch(ByteBuf buffer, int index) {
        return buffer.getInt(index + LEADER_EPOCH);
    }

    public static void setLeaderEpoch(ByteBuf buffer, int index, int epoch) {
        buffer.setInt(index + LEADER_EPOCH, epoch);
    }

    public static byte magic(ByteBuf buffer, int index) {
        return buffer.getByte(index + MAGIC);
    }

    /** The stored CRC-32C of the bytes from the attributes to the end. */
    public static int crc(ByteBuf buffer, int index) {
        return buffer.getInt(index + CRC);
    }

    public static void setCrc(ByteBuf buffer, int index, int crc) {
        buffer.setInt(index + CRC, crc);
    }

    public static short attributes(ByteBuf buffer, int index) {
        return buffer.getShort(index + ATTRIBUTES);
    }

    public static void setAttributes(ByteBuf buffer, int index, short attributes) {
        buffer.setShort(index + ATTRIBUTES, attributes);
    }

    public static int lastOffsetDelta(ByteBuf buffer, int index) {
        return buffer.getInt(index + LAST_OFFSET_DELTA);
    }

    /** The timestamp of the first record in milliseconds since 1970 UTC. */
    public static long baseTimestamp(ByteBuf buffer, int index) {
        return buffer.getLong(index + BASE_TIMESTAMP);
    }

    /** The largest timestamp in milliseconds since 1970 UTC. */
    public static long maxTimestamp(ByteBuf buffer, int index) {
        return buffer.getLong(index + MAX_TIMESTAMP);
    }

    public static void setMaxTimestamp(ByteBuf buffer, int index, long timestampMs) {
        buffer.setLong(index + MAX_TIMESTAMP, timestampMs);
    }

    public static long producerId(ByteBuf buffer, int index) {
        return buffer.getLong(index + PRODUCER_ID);
    }

    public static short producerEpoch(ByteBuf buffer, int index) {
        return buffer.getShort(index + PRODUCER_EPOCH);
    }

    public static int baseSequence(ByteBuf buffer, int index) {
        return buffer.getInt(index + BASE_SEQUENCE);
    }

    public static int recordCount(ByteBuf buffer, int index) {
        return buffer.getInt(index + RECORD_COUNT);
    }

    public static boolean isControl(ByteBuf buffer, int index) {
        return (attributes(buffer, index) & CONTROL_FLAG) != 0;
    }

    public static boolean isTransactional(ByteBuf buffer, int index) {
        return (attributes(buffer, index) & TRANSACTIONAL_FLAG) != 0;
    }

    public static boolean isLogAppendTime(ByteBuf buffer, int index) {
        return (attributes(buffer, index) & LOG_APPEND_TIME_FLAG) != 0;
    }

    /** Whether the base timestamp is the delete horizon, from which tombstones may be deleted (KIP-534). */
    public static boolean hasDeleteHorizon(ByteBuf buffer, int index) {
        return (attributes(buffer, index) & DELETE_HORIZON_FLAG) != 0;
    }

    /** The id of the compression codec, 0 to 7. Not all of them are assigned. */
    public static int compressionId(ByteBuf buffer, int index) {
        return attributes(buffer, index) & COMPRESSION_MASK;
    }

    /**
     * The size of the next batch, if all of it is there.
     *
     * @param leftBytes size of what is there from {@code index} on; the buffer has the header, or as much of it as there is
     * @return 0 if the batch is not complete
     * @throws InvalidBatchException if no batch of the current magic begins there
     */
    public static int completeSizeBytes(ByteBuf buffer, int index, int leftBytes) {
        if (leftBytes <= MAGIC) {
            return 0;
        }
        int lengthBytes = buffer.getInt(index + LENGTH);
        if (magic(buffer, index) != CURRENT_MAGIC) {
            throw new InvalidBatchException("a batch of magic " + magic(buffer, index));
        }
        if (lengthBytes < HEADER_SIZE_BYTES - LOG_OVERHEAD_BYTES) {
            throw new InvalidBatchException("a batch of " + lengthBytes + " bytes");
        }
        return lengthBytes > leftBytes - LOG_OVERHEAD_BYTES ? 0 : lengthBytes + LOG_OVERHEAD_BYTES;
    }

    /**
     * Checks the numbers of records and offsets. After compaction, a batch can have no records, or fewer records than
     * offsets.
     *
     * @throws InvalidBatchException if one is negative
     */
    public static void requireCounts(ByteBuf buffer, int index) {
        if (recordCount(buffer, index) < 0 || lastOffsetDelta(buffer, index) < 0) {
            throw new InvalidBatchException("a negative record count or offset");
        }
    }
}
