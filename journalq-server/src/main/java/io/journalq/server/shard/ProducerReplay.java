package io.journalq.server.shard;

import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.replication.EndedTransaction;
import io.journalq.server.replication.PartitionTransactions;
import io.netty.buffer.ByteBuf;

/**
 * Brings the state of a partition's producers and their transactions up to what its journal holds, and the
 * journal's index of aborted transactions with them. While it opens.
 */
final class ProducerReplay {
    private static final long PRODUCERS_TIME = -1L;
    private static final int UNKNOWN_COORDINATOR_EPOCH = -1;

    private final PartitionTransactions transactions;
    private final Journal journal;
    private final long nowMs;

    /**
     * Begins where {@code transactions} is.
     *
     * @param journal is told of aborted transactions
     * @param nowMs the time of recovery: a producer's silence is counted from here, as nobody could write before
     */
    ProducerReplay(PartitionTransactions transactions, Journal journal, long nowMs) {
        this.transactions = transactions;
        this.journal = journal;
        this.nowMs = nowMs;
    }

    /** Takes the next batch of the journal in. */
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
            // The time of the records is the best guess at when the transaction began, unless it lies ahead.
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
                journal.derivedState().addAborted(BatchAdmission.aborted(ended));
            }
            // What a restart finds may be seen: nothing of it is taken back.
            transactions.onHighWatermark(offset + 1);
        }
    }

    /** Compaction took the record away, as nothing is left of the transaction; the epoch still fences. */
    private static TransactionMarker emptied(ByteBuf batch) {
        return new TransactionMarker(
                RecordBatch.producerId(batch, 0), RecordBatch.producerEpoch(batch, 0), true, UNKNOWN_COORDINATOR_EPOCH);
    }
}
