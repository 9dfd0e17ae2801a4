package io.journalq.server.shard.append;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.loop.BlockingWork;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.EndedTransaction;
import io.journalq.server.producerstate.PartitionTransactions.KnownProducer;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.producerstate.ProducerSnapshot;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producers of one partition and their transactions, as of everything that is staged. Saves them in snapshots
 * beside the journal, so that a restart replays little, and finds expired producers and hanging transactions.
 * {@link BatchAdmission} changes them as producers write. On the partition's loop, unless a method says otherwise.
 */
public final class PartitionProducers {
    private static final Logger log = LoggerFactory.getLogger(PartitionProducers.class);

    private final TopicPartition name;
    private final Journal journal;
    private final PartitionTransactions transactions;
    private final ProducerDedup dedup;
    private final BlockingWork blockingWork;

    /** Aborted transactions whose markers are staged. */
    private final List<AbortedTransaction> unwrittenAborts = new ArrayList<>();

    /** Null until a leader sends batches. */
    private ProducerReplay replay;

    private int snapshotSegmentCount;
    private int hangingTransactions;

    /**
     * Takes over the producers of a partition that was opened.
     *
     * @param transactions as of the journal's end
     * @param memory charged with the producers
     */
    public PartitionProducers(
            TopicPartition name,
            Journal journal,
            PartitionTransactions transactions,
            BlockingWork blockingWork,
            MemoryAccount memory) {
        this.name = name;
        this.journal = journal;
        this.transactions = transactions;
        this.dedup = transactions.producers();
        this.blockingWork = blockingWork;
        this.snapshotSegmentCount = journal.segmentCount();
        dedup.begin(memory);
        journal.derivedState().keepBeforeRemoval(() -> ProducerSnapshot.encode(transactions));
    }

    ProducerDedup dedup() {
        return dedup;
    }

    /** Records that were acknowledged behind the end of the log may be lost: producers may continue behind them. */
    public void onPossibleLoss() {
        dedup.onPossibleLoss(journal.endOffset());
    }

    PartitionTransactions transactions() {
        return transactions;
    }

    /** The idempotent and transactional producers that wrote here and have not expired. */
    public List<KnownProducer> known() {
        return transactions.knownProducers();
    }

    /** Base offset of each producer's newest batch, by producer id: compaction keeps those batches. */
    public Map<Long, Long> newestBatchOffsets() {
        return dedup.newestBatchOffsets();
    }

    /** Number of transactions open for longer than allowed at the last call of {@link #countHanging}. */
    public int hangingTransactions() {
        return hangingTransactions;
    }

    /** This broker begins to lead the partition, see {@link PartitionTransactions#onLeading}. */
    public void onLeading(long number) {
        transactions.onLeading(number);
    }

    /** Ends the transaction whose marker is staged at {@code offset}. */
    void onMarkerStaged(TransactionMarker marker, long offset, long nowMs) {
        EndedTransaction ended = transactions.replayMarker(marker, offset, nowMs);
        if (ended != null && !ended.commit()) {
            unwrittenAborts.add(aborted(ended));
        }
    }

    /**
     * Replays batches that a leader has sent, and that are staged.
     *
     * @param run whole batches back to back between its reader and writer index
     */
    public void onStagedRun(ByteBuf run, long nowMs) {
        if (replay == null) {
            replay = new ProducerReplay(
                    transactions, ended -> unwrittenAborts.add(aborted(ended)), journal::highWatermark);
        }
        for (int at = run.readerIndex(); at < run.writerIndex(); at += RecordBatch.sizeBytes(run, at)) {
            replay.onBatch(run, at, nowMs);
        }
    }

    /** Converts an ended transaction for the journal's index of aborted transactions. */
    public static AbortedTransaction aborted(EndedTransaction ended) {
        return new AbortedTransaction(
                ended.producerId(), ended.firstOffset(), ended.markerOffset(), ended.lastStableOffset());
    }

    /**
     * Adds the aborted transactions whose markers are written to the journal's index.
     *
     * @param offset everything before it is written
     * @param keptOffset everything staged at or behind it is lost
     */
    void onWritten(long offset, long keptOffset) {
        if (unwrittenAborts.isEmpty()) {
            return;
        }
        for (AbortedTransaction aborted : unwrittenAborts) {
            if (aborted.markerOffset() < offset) {
                journal.derivedState().addAborted(aborted);
            }
        }
        unwrittenAborts.removeIf(aborted -> aborted.markerOffset() < offset || aborted.markerOffset() >= keptOffset);
    }

    /** Discards all state at or behind {@code offset}, because the journal dropped these records. */
    public void truncateTo(long offset) {
        transactions.truncateTo(offset);
    }

    /** Removes producers that have been silent for longer than {@code expiryMs}. */
    public void expire(long nowMs, long expiryMs) {
        dedup.onTick(nowMs, expiryMs);
    }

    /** Discards all state, because the partition leaves its shard. */
    public void close() {
        dedup.end();
    }

    /** Counts the transactions that their coordinator does not end, and logs if there are more than before. */
    public void countHanging(long maxTimeoutMs, long nowMs, long lastStableOffset) {
        int count = transactions.openLongerThan(maxTimeoutMs, nowMs);
        if (count > hangingTransactions) {
            log.warn(
                    "transactions are open for longer than allowed and hide the committed records behind them:"
                            + " partition={} transactions={} lastStableOffset={}",
                    name,
                    count,
                    lastStableOffset);
        }
        hangingTransactions = count;
    }

    /** Saves a snapshot with each new segment. */
    public void snapshotIfRolled() {
        // The producers' state is ahead of the journal while something is staged.
        if (journal.segmentCount() == snapshotSegmentCount || journal.isDirty()) {
            return;
        }
        snapshotSegmentCount = journal.segmentCount();
        long offset = journal.writtenOffset();
        ByteBuffer state = ProducerSnapshot.encode(transactions);
        blockingWork.start(() -> {
            try {
                journal.derivedState().writeDurableSnapshot(offset, state);
            } catch (IOException failure) {
                onSnapshotFailure(failure);
            }
        });
    }

    /**
     * Saves the last snapshot, after the partition has left its loop. False if it cannot be written. Any thread;
     * blocks.
     */
    public boolean snapshotAtClose() {
        try {
            // Not synced: a stop is quick, and the snapshot before it is synced.
            journal.derivedState().writeSnapshot(journal.writtenOffset(), ProducerSnapshot.encode(transactions));
            return true;
        } catch (IOException failure) {
            onSnapshotFailure(failure);
            return false;
        }
    }

    private void onSnapshotFailure(IOException failure) {
        log.warn("cannot write a producer snapshot: partition={} reason=\"{}\"", name, failure.getMessage());
    }
}
