package io.journalq.server.shard.read;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;

/**
 * The result of one read of one partition.
 *
 * @param error {@link ErrorCode#NONE} if the read succeeded
 * @param highWatermark offset behind the last record that consumers may see; -1 if unknown
 * @param lastStableOffset offset behind the last record that read-committed consumers may see; -1 if unknown
 * @param logStartOffset first offset; -1 if unknown
 * @param slice the records, to be released by the receiver; null if there are none
 * @param aborted the transactions to skip in the records; null if there are none, or the reader sees all records
 * @param divergingEpoch where the reader's log diverges from this partition's; null if it does not
 */
public record PartitionRead(
        ErrorCode error,
        long highWatermark,
        long lastStableOffset,
        long logStartOffset,
        JournalSlice slice,
        AbortedLookup aborted,
        EpochEndOffset divergingEpoch) {
    private static final long UNKNOWN = -1L;

    /** A read that failed. */
    public static PartitionRead failed(ErrorCode error) {
        return new PartitionRead(error, UNKNOWN, UNKNOWN, UNKNOWN, null, null, null);
    }

    /** Size of the records found. */
    public int sizeBytes() {
        return slice == null ? 0 : slice.sizeBytes();
    }

    /** A copy without the records, which the caller has released. */
    public PartitionRead withoutSlice() {
        return new PartitionRead(error, highWatermark, lastStableOffset, logStartOffset, null, null, divergingEpoch);
    }
}
