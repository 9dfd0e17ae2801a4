package io.journalq.server.shard.partition;

import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.EndedTransaction;
import io.journalq.server.shard.append.PartitionProducers;
import io.netty.buffer.ByteBuf;

/**
 * Replays a partition's journal into the state of its producers and their transactions, and into the journal's index of
 * aborted transactions. Used while the partition opens.
 */
final class ProducerReplay {
    private static final long PRODUCERS_TIME = -1L;
    private static final int UNKNOWN_COORDINATOR_EPOCH = -1;

    private final PartitionTransactions transactions;
    private final Journal journal;
    private final long highWatermark;
    private final long nowMs;

    /**
     * Replays into {@code transactions}, which holds the state as of an earlier batch.
     *
     * @param journal receives the aborted transactions
     * @param highWatermark markers before it are final
     * @param nowMs the time of recovery: a producer's silence counts from here, because no producer could write before
     */
    ProducerReplay(PartitionTransactions transactions, Journal journal, long highWatermark, long nowMs) {
        this.transactions = transactions;
        this.journal = journal;
        this.highWatermark = highWatermark;
        this.nowMs = nowMs;
    }

    /** Replays the next batch of the journal. */
    void onBatch(ByteBuf batch) {
        int at = 0;
        if (RecordBatch.isControl(batch, at)) {
            onControlBatch(batch);
            return;
        }
        transactions
                .producers()
                .replay(
                        RecordBatch.producerId(batch, at),
                        RecordBatch.producerEpoch(batch, at),
                        RecordBatch.baseSequence(batch, at),
                        RecordBatch.lastOffsetDelta(batch, at) + 1,
                        RecordBatch.baseOffset(batch, at),
                        RecordBatch.isLogAppendTime(batch, at) ? RecordBatch.maxTimestamp(batch, at) : PRODUCERS_TIME,
                        nowMs);
        if (RecordBatch.isTransactional(batch, at)) {
            // The records' timestamp is the best estimate of when the transaction began, unless it lies in the future.
            long startedMs = Math.min(nowMs, RecordBatch.maxTimestamp(batch, at));
            transactions.replayBatch(RecordBatch.producerId(batch, at), RecordBatch.baseOffset(batch, at), startedMs);
        }
    }

    private void onControlBatch(ByteBuf batch) {
        TransactionMarker marker =
                RecordBatch.recordCount(batch, 0) == 0 ? emptied(batch) : TransactionMarker.read(batch, 0);
        if (marker != null) {
            long offset = RecordBatch.baseOffset(batch, 0);
            EndedTransaction ended = transactions.replayMarker(marker, offset, nowMs);
            if (ended != null && !ended.commit()) {
                journal.derivedState().addAborted(PartitionProducers.aborted(ended));
            }
            transactions.onHighWatermark(Math.min(offset + 1, highWatermark));
        }
    }

    /**
     * A marker whose record was removed by compaction, because nothing of the transaction is left. The epoch still
     * fences.
     */
    private static TransactionMarker emptied(ByteBuf batch) {
        return new TransactionMarker(
                RecordBatch.producerId(batch, 0), RecordBatch.producerEpoch(batch, 0), true, UNKNOWN_COORDINATOR_EPOCH);
    }
}
