package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Converts a batch to another compression. Records, offsets, timestamps and producer state do not change. Stateless;
 * any thread.
 */
public final class BatchRecompression {
    private BatchRecompression() {}

    /**
     * Returns the batch in another compression, with a valid CRC, in a direct buffer that the caller releases.
     *
     * @param batch one valid batch; its indexes do not change
     * @param maxDecompressedSizeBytes the maximum size of its records after decompression
     * @throws InvalidBatchException if the records cannot be decompressed or are larger
     */
    public static ByteBuf recompress(
            ByteBuf batch, CompressionCodec target, int maxDecompressedSizeBytes, ByteBufAllocator allocator) {
        int index = batch.readerIndex();
        int recordsIndex = index + RecordBatch.HEADER_SIZE_BYTES;
        CompressionCodec source = CompressionCodec.of(RecordBatch.compressionId(batch, index));
        if (source == null) {
            throw new InvalidBatchException("unknown compression");
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
