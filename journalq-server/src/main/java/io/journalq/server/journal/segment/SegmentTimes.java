package io.journalq.server.journal.segment;

/**
 * The timestamps of a segment's batches. Immutable; milliseconds since 1970 UTC.
 *
 * @param firstMs largest timestamp of the first batch, from which the segment's age is counted; -1 while it is empty
 * @param maxMs largest timestamp of all batches; -1 if none has one
 * @param maxBatchOffset base offset of the first batch with that timestamp; -1 if none has one
 */
public record SegmentTimes(long firstMs, long maxMs, long maxBatchOffset) {
    static final SegmentTimes NONE = new SegmentTimes(-1, -1, -1);

    SegmentTimes with(long batchMaxMs, long batchOffset) {
        long first = firstMs < 0 ? batchMaxMs : firstMs;
        if (batchMaxMs > maxMs) {
            return new SegmentTimes(first, batchMaxMs, batchOffset);
        }
        return first == firstMs ? this : new SegmentTimes(first, maxMs, maxBatchOffset);
    }
}
