package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.replication.KnownProducer;
import io.journalq.server.replication.PartitionTransactions;
import io.journalq.server.replication.ProducerDedup;
import io.journalq.server.replication.ProducerSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producers of one partition and their transactions, as of all that is staged: keeps them in snapshots beside the
 * journal, so that a restart replays little, and looks for those that are silent or hang. On the partition's loop unless it
 * says otherwise. {@link BatchAdmission} is what changes them as they write.
 */
final class PartitionProducers {
    private static final Logger log = LoggerFactory.getLogger(PartitionProducers.class);

    private final Shard shard;
    private final TopicPartition name;
    private final Journal journal;
    private final ProducerDedup producers;
    private final PartitionTransactions transactions;
    private int snapshotSegmentCount;
    private int hangingTransactions;

    PartitionProducers(Shard shard, RecoveredPartition recovered) {
        this.shard = shard;
        this.name = recovered.name();
        this.journal = recovered.journal();
        this.producers = recovered.producers();
        this.transactions = recovered.transactions();
        this.snapshotSegmentCount = journal.segmentCount();
        producers.begin(shard.producerMemory());
        journal.derivedState().keepBeforeRemoval(() -> ProducerSnapshot.encode(transactions));
    }

    /** Those that are not forgotten. */
    List<KnownProducer> known() {
        return transactions.knownProducers();
    }

    /** Base offset of each one's newest batch by the producer's id: compaction keeps those. */
    Map<Long, Long> newestBatchOffsets() {
        return producers.newestBatchOffsets();
    }

    /** Transactions that were open for longer than any may be when {@link #countHanging} last looked. */
    int hangingTransactions() {
        return hangingTransactions;
    }

    /** What is at or behind {@code offset} is dropped from the journal. */
    void truncateTo(long offset) {
        transactions.truncateTo(offset);
    }

    /** Forgets silent ones. */
    void expire(ShardTimes times) {
        producers.onTick(
                times.retentionClock().nowMs(), times.producerExpiryMs().getAsLong());
    }

    /** The partition leaves its shard; its state goes with it. */
    void end() {
        producers.end();
    }

    /** Looks for transactions that their coordinator does not end, and says when there are more than before. */
    void countHanging(ShardTimes times, long nowMs, long lastStableOffset) {
        int count = transactions.openLongerThan(times.transactionMaxTimeoutMs(), nowMs);
        if (count > hangingTransactions) {
            log.warn(
                    "transactions are open for longer than any may be, committed records behind them are not seen:"
                            + " partition={} transactions={} lastStableOffset={}",
                    name,
                    count,
                    lastStableOffset);
        }
        hangingTransactions = count;
    }

    /** Keeps a snapshot with each new segment. */
    void snapshotIfRolled() {
        // The producers' state is ahead of the journal while something is staged.
        if (journal.segmentCount() == snapshotSegmentCount || journal.isDirty()) {
            return;
        }
        snapshotSegmentCount = journal.segmentCount();
        long offset = journal.writtenOffset();
        ByteBuffer state = ProducerSnapshot.encode(transactions);
        shard.runBlocking(() -> {
            try {
                journal.derivedState().writeDurableSnapshot(offset, state);
            } catch (IOException failure) {
                onSnapshotFailure(failure);
            }
        });
    }

    /** The last one, when the partition has left its loop. False if it cannot be written. Any thread; blocks. */
    boolean snapshotAtClose() {
        try {
            // Not synced: a stop is quick, and the one before it is.
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
