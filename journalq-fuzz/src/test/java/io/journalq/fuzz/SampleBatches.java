package io.journalq.fuzz;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Batches that are as they should be, and batches whose checksum is made right so that the rest is looked at. Stateless. */
public final class SampleBatches {
    /** The time of all records; that of the simulated broker. */
    public static final long TIMESTAMP_MS = 1_800_000_000_000L;

    private SampleBatches() {}

    /** Records without compression. */
    public static ByteBuf plain(int records) {
        return batch(CompressionCodec.NONE, records, RecordBatch.NO_PRODUCER_ID, false);
    }

    /** The bytes of a batch of records with keys, values and headers. */
    public static byte[] bytes(CompressionCodec codec, int records, long producerId, boolean transactional) {
        ByteBuf batch = batch(codec, records, producerId, transactional);
        byte[] bytes = ByteBufUtil.getBytes(batch);
        batch.release();
        return bytes;
    }

    private static ByteBuf batch(CompressionCodec codec, int records, long producerId, boolean transactional) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            if (producerId >= 0) {
                builder.setProducerState(producerId, (short) 0, 0, transactional);
            }
            for (int i = 0; i < records; i++) {
                byte[] key = i % 3 == 0 ? null : ("key-" + i).getBytes(StandardCharsets.UTF_8);
                byte[] value = i % 4 == 3 ? null : ("value value value " + i).getBytes(StandardCharsets.UTF_8);
                List<Header> headers = i % 2 == 0 ? List.of() : List.of(new Header("name", new byte[] {1, 2}));
                builder.append(TIMESTAMP_MS + i, key, value, headers);
            }
            return builder.build();
        }
    }

    /** Makes length and checksum of every batch right, as far as bytes reach. */
    public static void fixChecksums(ByteBuf batches) {
        int at = batches.readerIndex();
        while (batches.writerIndex() - at >= RecordBatch.HEADER_SIZE_BYTES) {
            int left = batches.writerIndex() - at;
            int sizeBytes = batches.getInt(at + RecordBatch.LENGTH) + RecordBatch.LOG_OVERHEAD_BYTES;
            if (sizeBytes < RecordBatch.HEADER_SIZE_BYTES || sizeBytes > left) {
                sizeBytes = left;
                batches.setInt(at + RecordBatch.LENGTH, left - RecordBatch.LOG_OVERHEAD_BYTES);
            }
            batches.setByte(at + RecordBatch.MAGIC, RecordBatch.CURRENT_MAGIC);
            RecordBatch.setCrc(
                    batches,
                    at,
                    Crc32c.compute(batches, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES));
            at += sizeBytes;
        }
    }
}
