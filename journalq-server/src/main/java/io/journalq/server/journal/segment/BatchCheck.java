package io.journalq.server.journal.segment;

import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;

/**
 * Checks batches that were read from the disk before anybody is given them: a checkpoint vouches for what was written, not
 * for what years on a disk make of it. The CRC covers all but offset, length and epoch of a batch; that offsets ascend
 * within their segment is checked besides. Stateless.
 */
public final class BatchCheck {
    private BatchCheck() {}

    /**
     * Finds how many bytes of {@code batches} are healthy, from the first on. Where two neighbours contradict each other,
     * neither is.
     */
    public static int healthyBytes(ByteBuf batches, long firstOffset, long endOffset) {
        int at = batches.readerIndex();
        int previous = at;
        long next = firstOffset;
        while (at < batches.writerIndex()) {
            if (!isSound(batches, at) || RecordBatch.nextOffset(batches, at) > endOffset) {
                return at;
            }
            if (RecordBatch.baseOffset(batches, at) < next) {
                return previous;
            }
            next = RecordBatch.nextOffset(batches, at);
            previous = at;
            at += RecordBatch.sizeBytes(batches, at);
        }
        return at;
    }

    /**
     * Whether a header says nothing that no batch of ours could say, whatever its checksum: compaction leaves fewer records
     * than offsets, never more.
     */
    static boolean isPossible(ByteBuf header, int at) {
        int lastOffsetDelta = RecordBatch.lastOffsetDelta(header, at);
        int records = RecordBatch.recordCount(header, at);
        return RecordBatch.magic(header, at) == RecordBatch.CURRENT_MAGIC
                && RecordBatch.baseOffset(header, at) >= 0
                && lastOffsetDelta >= 0
                && RecordBatch.nextOffset(header, at) > RecordBatch.baseOffset(header, at)
                && records >= 0
                && records - 1 <= lastOffsetDelta;
    }

    private static boolean isSound(ByteBuf batches, int at) {
        int available = batches.writerIndex() - at;
        if (available < RecordBatch.HEADER_SIZE_BYTES) {
            return false;
        }
        int sizeBytes = RecordBatch.sizeBytes(batches, at);
        return sizeBytes >= RecordBatch.HEADER_SIZE_BYTES
                && sizeBytes <= available
                && isPossible(batches, at)
                && Crc32c.compute(batches, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES)
                        == RecordBatch.crc(batches, at);
    }
}
