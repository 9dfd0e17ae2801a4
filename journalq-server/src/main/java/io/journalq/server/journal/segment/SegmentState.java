package io.journalq.server.journal.segment;

/**
 * The durable state of a segment, as stored in the checkpoint.
 *
 * @param extent durable bytes and the offset behind them
 * @param badRanges pairs of positions, from and to, without a healthy batch
 */
@SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
public record SegmentState(SegmentExtent extent, SegmentTimes times, int[] badRanges) {

    /**
     * The offsets and size of a segment.
     *
     * @param baseOffset the offset in the segment's name
     * @param sizeBytes from the beginning of its log file
     * @param endOffset the offset behind its last record
     */
    public record SegmentExtent(long baseOffset, int sizeBytes, long endOffset) {}

    /**
     * The timestamps of a segment's batches. Immutable; milliseconds since 1970 UTC.
     *
     * @param firstMs largest timestamp of the first batch, from which the segment's age is counted; -1 while it is
     *     empty
     * @param maxMs largest timestamp of all batches; -1 if none has one
     * @param maxBatchOffset base offset of the first batch with that timestamp; -1 if none has one
     */
    public record SegmentTimes(long firstMs, long maxMs, long maxBatchOffset) {
        /** Of a segment without batches. */
        public static final SegmentTimes NONE = new SegmentTimes(-1, -1, -1);
    }
}
