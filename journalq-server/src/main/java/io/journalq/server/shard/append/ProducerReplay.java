package io.journalq.server.shard.append;

import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.EndedTransaction;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Replays batches of a partition's log into the state of its producers and their transactions: those that are in the log
 * when the partition opens, and those that a leader sends. One thread.
 */
public final class ProducerReplay {
    private static final long PRODUCERS_TIME = -1L;
    private static final int UNKNOWN_COORDINATOR_EPOCH = -1;

    private final PartitionTransactions transactions;
    private final Consumer<EndedTransaction> aborts;
    private final LongSupplier highWatermark;

    /**
     * Replays into {@code transactions}, which holds the state as of an earlier batch.
     *
     * @param aborts receives the aborted transactions
     * @param highWatermark markers before it are final
     */
    public ProducerReplay(
            PartitionTransactions transactions, Consumer<EndedTransaction> aborts, LongSupplier highWatermark) {
        this.transactions = transactions;
        this.aborts = aborts;
        this.highWatermark = highWatermark;
    }

    /**
     * Replays the next batch of the log.
     *
     * @param at index of the batch in {@code batches}
     * @param nowMs a producer's silence counts from here
     */
    public void onBatch(ByteBuf batches, int at, long nowMs) {
        if (RecordBatch.isControl(batches, at)) {
            onControlBatch(batches, at, nowMs);
            return;
        }
        transactions
                .producers()
                .replay(
                        RecordBatch.producerId(batches, at),
                        RecordBatch.producerEpoch(batches, at),
                        RecordBatch.baseSequence(batches, at),
                        RecordBatch.lastOffsetDelta(batches, at) + 1,
                        RecordBatch.baseOffset(batches, at),
                        RecordBatch.isLogAppendTime(batches, at)
                                ? RecordBatch.maxTimestamp(batches, at)
                                : PRODUCERS_TIME,
                        nowMs);
        if (RecordBatch.isTransactional(batches, at)) {
            // The records' timestamp is the best estimate of when the transaction began, unless it lies in the future.
            long startedMs = Math.min(nowMs, RecordBatch.maxTimestamp(batches, at));
            transactions.replayBatch(
                    RecordBatch.producerId(batches, at), RecordBatch.baseOffset(batches, at), startedMs);
        }
    }

    private void onControlBatch(ByteBuf batches, int at, long nowMs) {
        TransactionMarker marker =
                RecordBatch.recordCount(batches, at) == 0 ? emptied(batches, at) : TransactionMarker.read(batches, at);
        if (marker != null) {
            long offset = RecordBatch.baseOffset(batches, at);
            EndedTransaction ended = transactions.replayMarker(marker, offset, nowMs);
            if (ended != null && !ended.commit()) {
                aborts.accept(ended);
            }
            transactions.onHighWatermark(Math.min(offset + 1, highWatermark.getAsLong()));
        }
    }

    /**
     * A marker whose record was removed by compaction, because nothing of the transaction is left. The epoch still
     * fences.
     */
    private static TransactionMarker emptied(ByteBuf batches, int at) {
        return new TransactionMarker(
                RecordBatch.producerId(batches, at),
                RecordBatch.producerEpoch(batches, at),
                true,
                UNKNOWN_COORDINATOR_EPOCH);
    }
}
