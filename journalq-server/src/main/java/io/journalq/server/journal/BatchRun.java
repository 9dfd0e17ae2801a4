package io.journalq.server.journal;

import io.journalq.common.record.Crc32c;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;

/**
 * Checks a run of batches that another replica sent, before any of them is appended. The leader validated their records
 * when a producer sent them. Therefore this only checks that the bytes are those of whole batches, and that offsets and
 * leader epochs continue the log. A batch's CRC covers neither of the two. Stateless.
 */
final class BatchRun {
    private BatchRun() {}

    /**
     * Checks all batches of a run.
     *
     * @param run batches back to back between its reader and writer index
     * @param endOffset the end of the log. Offsets may have gaps, because the leader compacts its log
     * @param newestEpoch the newest leader epoch in the log; -1 if there is none
     * @param leaderEpoch epoch of the leader that sent the run
     * @throws InvalidBatchException if a batch must not be appended
     */
    static void check(ByteBuf run, long endOffset, int newestEpoch, int leaderEpoch) {
        long nextOffset = endOffset;
        int epoch = newestEpoch;
        int at = run.readerIndex();
        while (at < run.writerIndex()) {
            checkBytes(run, at);
            long baseOffset = RecordBatch.baseOffset(run, at);
            int lastDelta = RecordBatch.lastOffsetDelta(run, at);
            // A segment stores offsets relative to its first one in 32 bits.
            if (baseOffset < nextOffset || baseOffset - nextOffset >= Integer.MAX_VALUE - (long) lastDelta) {
                throw invalid(run, at, "it has offset " + baseOffset + ", expected " + nextOffset);
            }
            int itsEpoch = RecordBatch.leaderEpoch(run, at);
            if (itsEpoch < epoch || itsEpoch > leaderEpoch) {
                throw invalid(
                        run,
                        at,
                        "it has leader epoch " + itsEpoch + ", expected " + epoch + " to " + leaderEpoch
                                + ", the leader's");
            }
            nextOffset = RecordBatch.nextOffset(run, at);
            epoch = itsEpoch;
            at += RecordBatch.sizeBytes(run, at);
        }
    }

    private static void checkBytes(ByteBuf run, int at) {
        int available = run.writerIndex() - at;
        if (available < RecordBatch.HEADER_SIZE_BYTES) {
            throw invalid(run, at, "its header is incomplete");
        }
        int sizeBytes = RecordBatch.sizeBytes(run, at);
        if (sizeBytes < RecordBatch.HEADER_SIZE_BYTES || sizeBytes > available) {
            throw invalid(run, at, "its size is " + sizeBytes + " bytes, but only " + available + " are there");
        }
        if (RecordBatch.magic(run, at) != RecordBatch.CURRENT_MAGIC) {
            throw invalid(run, at, "it has magic " + RecordBatch.magic(run, at));
        }
        int crc = Crc32c.compute(run, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES);
        if (crc != RecordBatch.crc(run, at) || RecordBatch.lastOffsetDelta(run, at) < 0) {
            throw invalid(run, at, "its CRC does not match its bytes");
        }
    }

    private static InvalidBatchException invalid(ByteBuf run, int at, String reason) {
        return new InvalidBatchException(
                "the batch at byte " + (at - run.readerIndex()) + " of a leader's response is refused: " + reason);
    }
}
