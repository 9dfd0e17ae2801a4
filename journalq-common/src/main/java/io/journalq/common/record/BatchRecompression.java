package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Makes the same batch in another compression: records, offsets, timestamps and producer state stay. Stateless, any thread. */
public final class BatchRecompression {
    private BatchRecompression() {}

    /**
     * The batch in another compression, complete with CRC, in a direct buffer that the caller releases.
     *
     * @param batch whose readable bytes are one sound batch; its indexes stay
     * @param maxDecompressedSizeBytes largest size of its records without compression
     * @throws CorruptBatchException when the records cannot be decompressed, or are larger
     */
    public static ByteBuf recompress(
            ByteBuf batch, CompressionCodec target, int maxDecompressedSizeBytes, ByteBufAllocator allocator) {
        int index = batch.readerIndex();
        int recordsIndex = index + RecordBatch.HEADER_SIZE_BYTES;
        CompressionCodec source = CompressionCodec.of(RecordBatch.compressionId(batch, index));
        if (source == null) {
            throw new CorruptBatchException("unknown compression");
        }
        ByteBuf records = source.decompress(
                batch.slice(recordsIndex, batch.writerIndex() - recordsIndex), maxDecompressedSizeBytes, allocator);
        ByteBuf result = null;
        try {
            result = allocator.directBuffer(RecordBatch.HEADER_SIZE_BYTES + records.readableBytes());
            result.writeBytes(batch, index, RecordBatch.HEADER_SIZE_BYTES);
            target.compress(records, result);
            int others = RecordBatch.attributes(batch, index) & ~RecordBatch.COMPRESSION_MASK;
            RecordBatch.setAttributes(result, 0, (short) (others | target.id()));
            result.setInt(RecordBatch.LENGTH, result.writerIndex() - RecordBatch.LOG_OVERHEAD_BYTES);
            RecordBatch.setCrc(result, 0, Crc32c.ofBatch(result, 0, result.writerIndex()));
            ByteBuf complete = result;
            result = null;
            return complete;
        } finally {
            records.release();
            if (result != null) {
                result.release();
            }
        }
    }
}
