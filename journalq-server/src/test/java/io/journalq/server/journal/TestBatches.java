package io.journalq.server.journal;

import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.zip.CRC32C;

/** Batches as in a validated Produce request: uncompressed, base offset 0, values of arbitrary bytes. */
final class TestBatches {
    private TestBatches() {}

    static ByteBuf batch(int records, int valueBytes, long firstTimestampMs) {
        long[] timestamps = new long[records];
        for (int i = 0; i < records; i++) {
            timestamps[i] = firstTimestampMs + i;
        }
        return batch(timestamps, valueBytes, (byte) 'v');
    }

    static ByteBuf batch(long[] timestampsMs, int valueBytes, byte fill) {
        ByteBuf out = Unpooled.buffer();
        out.writeZero(RecordBatch.HEADER_SIZE_BYTES);
        long maxMs = Long.MIN_VALUE;
        for (int i = 0; i < timestampsMs.length; i++) {
            maxMs = Math.max(maxMs, timestampsMs[i]);
            writeRecord(out, i, timestampsMs[i] - timestampsMs[0], valueBytes, fill);
        }
        out.setInt(RecordBatch.LENGTH, out.writerIndex() - RecordBatch.LOG_OVERHEAD_BYTES);
        out.setInt(RecordBatch.LEADER_EPOCH, -1);
        out.setByte(RecordBatch.MAGIC, RecordBatch.CURRENT_MAGIC);
        out.setInt(RecordBatch.LAST_OFFSET_DELTA, timestampsMs.length - 1);
        out.setLong(RecordBatch.BASE_TIMESTAMP, timestampsMs[0]);
        out.setLong(RecordBatch.MAX_TIMESTAMP, maxMs);
        out.setLong(RecordBatch.PRODUCER_ID, -1);
        out.setShort(RecordBatch.PRODUCER_EPOCH, -1);
        out.setInt(RecordBatch.BASE_SEQUENCE, -1);
        out.setInt(RecordBatch.RECORD_COUNT, timestampsMs.length);
        CRC32C crc = new CRC32C();
        crc.update(out.array(), RecordBatch.ATTRIBUTES, out.writerIndex() - RecordBatch.ATTRIBUTES);
        out.setInt(RecordBatch.CRC, (int) crc.getValue());
        return out;
    }

    private static void writeRecord(ByteBuf out, int offsetDelta, long timestampDelta, int valueBytes, byte fill) {
        ByteBuf record = Unpooled.buffer();
        record.writeByte(0);
        writeVarlong(record, timestampDelta);
        writeVarlong(record, offsetDelta);
        writeVarlong(record, -1);
        writeVarlong(record, valueBytes);
        for (int i = 0; i < valueBytes; i++) {
            record.writeByte(fill);
        }
        writeVarlong(record, 0);
        writeVarlong(out, record.readableBytes());
        out.writeBytes(record);
    }

    private static void writeVarlong(ByteBuf out, long value) {
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7FL) != 0) {
            out.writeByte((int) (rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }
}
