package io.journalq.server.shard.read;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.EpochEndOffset;

/**
 * The result of one read of one partition.
 *
 * @param error {@link ErrorCode#NONE} when the read was possible
 * @param highWatermark offset behind the last record that consumers may see; -1 when unknown
 * @param lastStableOffset offset behind the last record that readers of committed records may see; -1 when unknown
 * @param logStartOffset first offset; -1 when unknown
 * @param slice the records, to be released by the receiver; null when there are none
 * @param aborted the transactions to leave out of the records; null when there are none, or the reader sees all records
 * @param divergingEpoch where the reader's history diverges from this partition's; null when it does not
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

    /** A read that was not possible. */
    public static PartitionRead failed(ErrorCode error) {
        return new PartitionRead(error, UNKNOWN, UNKNOWN, UNKNOWN, null, null, null);
    }

    /** Size of the records found. */
    public int sizeBytes() {
        return slice == null ? 0 : slice.sizeBytes();
    }

    /** The same without its records, which the caller has released. */
    public PartitionRead withoutSlice() {
        return new PartitionRead(error, highWatermark, lastStableOffset, logStartOffset, null, null, divergingEpoch);
    }
}
