package io.journalq.server.journal.compaction;

import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/**
 * What one pass over a log goes by.
 *
 * @param newest the newest offset of each key, of the records before {@code newestUpTo}
 * @param newestUpTo behind this nothing is known to be superseded
 * @param ends which transactions were aborted
 * @param lastBatchByProducer base offset of the last batch of each producer that is remembered, so that its sequence
 *     numbers survive; {@link #MARKERS_ONLY} for one that has none but markers
 * @param nowMs in milliseconds since 1970 UTC
 * @param deleteRetentionMs how long tombstones stay once they were seen, in milliseconds
 */
public record CleaningRules(
        KeyOffsets newest,
        long newestUpTo,
        TransactionEnds ends,
        Map<Long, Long> lastBatchByProducer,
        long nowMs,
        long deleteRetentionMs) {
    public static final long MARKERS_ONLY = -1L;

    /** Until when tombstones stay that are seen now. */
    long deleteHorizonMs() {
        return deleteRetentionMs < Long.MAX_VALUE - nowMs ? nowMs + deleteRetentionMs : Long.MAX_VALUE - 1;
    }

    /** Whether the batch says where its producer's sequence or epoch stands. */
    boolean isLastOfProducer(ByteBuf payload, int at) {
        long producerId = RecordBatch.producerId(payload, at);
        if (producerId == RecordBatch.NO_PRODUCER_ID) {
            return false;
        }
        Long last = lastBatchByProducer.get(producerId);
        if (last == null) {
            return false;
        }
        return last == MARKERS_ONLY ? RecordBatch.isControl(payload, at) : last == RecordBatch.baseOffset(payload, at);
    }
}
