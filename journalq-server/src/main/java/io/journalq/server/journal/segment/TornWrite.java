package io.journalq.server.journal.segment;

import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Distinguishes, after a power loss, a batch that was only partly written from one that was written and damaged later.
 * Bytes that were not written to the disk read as zeros: the first bytes, whole sectors, or more zeros at the end than
 * such a batch ends with. A batch that differs from its checksum by one bit is damaged, regardless of its zeros.
 */
public final class TornWrite {
    private static final int SECTOR_BYTES = 512;
    private static final int CHUNK_BYTES = 128 * SECTOR_BYTES;

    private TornWrite() {}

    /**
     * Whether the damaged batch between two positions looks like an unfinished write.
     *
     * @param header the bytes at the position of its header
     * @param baseOffset the offset that the header should have
     */
    public static boolean explains(LogFile file, int from, int to, ByteBuf header, long baseOffset) throws IOException {
        if (isOneBitOff(file, from, to, header, baseOffset)) {
            return false;
        }
        if (RecordBatch.baseOffset(header, 0) == 0 && baseOffset > 0) {
            return true;
        }
        if (RecordBatch.crc(header, 0) == 0) {
            return true; // The write ended within the header.
        }
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
        int zeros = 0;
        int sectorZeros = 0;
        for (int at = from - from % SECTOR_BYTES; at < to; at += CHUNK_BYTES) {
            chunk.clear().limit(Math.min(CHUNK_BYTES, to - at));
            if (file.read(chunk, at) < chunk.limit()) {
                return true;
            }
            for (int i = Math.max(0, from - at); i < chunk.limit(); i++) {
                sectorZeros = i % SECTOR_BYTES == 0 ? 0 : sectorZeros;
                boolean zero = chunk.get(i) == 0;
                zeros = zero ? zeros + 1 : 0;
                sectorZeros = zero ? sectorZeros + 1 : 0;
                if (sectorZeros == SECTOR_BYTES) {
                    return true;
                }
            }
        }
        return zeros > zerosAtTheEnd(header);
    }

    /** Whether one flipped bit accounts for all errors in the batch. */
    static boolean isOneBitOff(LogFile file, int from, int to, ByteBuf header, long baseOffset) throws IOException {
        int sizeBytes = to - from;
        if (sizeBytes < RecordBatch.HEADER_SIZE_BYTES) {
            return false;
        }
        int outsideOfCrc = Long.bitCount(RecordBatch.baseOffset(header, 0) ^ baseOffset)
                + Integer.bitCount(header.getInt(RecordBatch.LENGTH) ^ (sizeBytes - RecordBatch.LOG_OVERHEAD_BYTES))
                + Integer.bitCount((RecordBatch.magic(header, 0) ^ RecordBatch.CURRENT_MAGIC) & 0xFF);
        if (outsideOfCrc > 1) {
            return false;
        }
        int difference = BatchScanner.crc(file, from, to) ^ RecordBatch.crc(header, 0);
        if (outsideOfCrc == 1 || difference == 0) {
            return difference == 0;
        }
        return Integer.bitCount(difference) == 1
                || FlippedBit.find(difference, sizeBytes - RecordBatch.ATTRIBUTES) != FlippedBit.NONE;
    }

    /**
     * Maximum number of zeros at the end of a whole batch: its last record has no headers, and some codecs end with a
     * size or a mark.
     */
    private static int zerosAtTheEnd(ByteBuf header) {
        if (RecordBatch.isControl(header, 0)) {
            return 7; // Also the version and coordinator epoch of a marker.
        }
        int codec = RecordBatch.compressionId(header, 0);
        if (codec == CompressionCodec.LZ4.id()) {
            return 5;
        }
        return codec == CompressionCodec.NONE.id() ? 1 : 3;
    }
}
