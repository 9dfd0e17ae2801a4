package io.journalq.server.journal.segment;

import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Tells a damaged batch of which a part was never written from one that was written and changed later. What a power loss
 * kept from the disk reads as zeros: whole sectors of them, its first bytes, or more at its end than such a batch ends with.
 */
final class TornWrite {
    private static final int SECTOR_BYTES = 512;
    private static final int CHUNK_BYTES = 128 * SECTOR_BYTES;

    private TornWrite() {}

    /**
     * Whether the damaged batch between two positions looks like a write that was not finished. One of zeros, damaged later,
     * looks like that too.
     *
     * @param header what is in the place of its header
     * @param baseOffset that it should have
     */
    static boolean explains(LogFile file, int from, int to, ByteBuf header, long baseOffset) throws IOException {
        if (RecordBatch.baseOffset(header, 0) == 0 && baseOffset > 0) {
            return true;
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

    /** How many zeros a whole batch ends with: its last record has no headers, and some codecs end with a size or a mark. */
    private static int zerosAtTheEnd(ByteBuf header) {
        if (RecordBatch.isControl(header, 0)) {
            return 7; // Version and coordinator epoch of a marker, too.
        }
        int codec = RecordBatch.compressionId(header, 0);
        if (codec == CompressionCodec.LZ4.id()) {
            return 5;
        }
        return codec == CompressionCodec.NONE.id() ? 1 : 3;
    }
}
