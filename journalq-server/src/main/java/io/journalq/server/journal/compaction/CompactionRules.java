package io.journalq.server.journal.compaction;

import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/**
 * The rules of one pass over a log.
 *
 * @param newest the newest offset of each key, of the records before {@code newestUpTo}
 * @param newestUpTo records at or behind this offset are not known to supersede others
 * @param ends which transactions were aborted
 * @param lastBatchByProducer base offset of the last batch of each remembered producer, so that its sequence numbers
 *     survive; {@link #MARKERS_ONLY} for a producer that has only markers
 * @param nowMs in milliseconds since 1970 UTC
 * @param deleteRetentionMs how long tombstones stay after they were first compacted, in milliseconds
 */
public record CompactionRules(
        KeyOffsets newest,
        long newestUpTo,
        TransactionEnds ends,
        Map<Long, Long> lastBatchByProducer,
        long nowMs,
        long deleteRetentionMs) {
    public static final long MARKERS_ONLY = -1L;

    /** The time until which tombstones that are first compacted now stay. */
    long deleteHorizonMs() {
        return deleteRetentionMs < Long.MAX_VALUE - nowMs ? nowMs + deleteRetentionMs : Long.MAX_VALUE - 1;
    }

    /** Whether the batch records the current sequence or epoch of its producer. */
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
