package io.journalq.server.shard;

import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.replication.PartitionTransactions;
import io.netty.buffer.ByteBuf;

/** Brings the state of a partition's producers and their transactions up to what its journal holds. While it opens. */
final class ProducerReplay {
    private static final long PRODUCERS_TIME = -1L;

    private final PartitionTransactions transactions;
    private final long nowMs;

    /** @param nowMs the time of recovery: a producer's silence is counted from here, as nobody could write before */
    ProducerReplay(PartitionTransactions transactions, long nowMs) {
        this.transactions = transactions;
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
        TransactionMarker marker = TransactionMarker.read(batch, 0);
        if (marker != null) {
            long offset = RecordBatch.baseOffset(batch, 0);
            transactions.replayMarker(marker, offset, nowMs);
            // What a restart finds may be seen: nothing of it is taken back.
            transactions.onHighWatermark(offset + 1);
        }
    }
}
