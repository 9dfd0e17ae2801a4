package io.journalq.server.shard.read;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.replication.ReplicaMachine;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one partition, as its readers see it: up to the high watermark or, for read-committed consumers, up to the
 * last stable offset. Parks readers until these offsets advance. Only the append path advances them
 * ({@link #onAppended}, {@link #onSafe}). On the partition's loop.
 */
public final class ReadableLog {
    private static final Logger log = LoggerFactory.getLogger(ReadableLog.class);

    private final TopicPartition name;
    private final Journal journal;
    private final PartitionTransactions transactions;
    private final ParkedFetches readers = new ParkedFetches();
    private final ParkedFetches committedReaders = new ParkedFetches();
    private final ReplicaMachine replica;
    private boolean closed;

    /** Size of the batches that were appended since the partition was opened, up to the high watermark. */
    private long readableBytes;

    /** Size of the batches behind the high watermark. */
    private long unreadableBytes;

    /** @param replica knows the high watermark, which advances only here */
    public ReadableLog(
            TopicPartition name, Journal journal, PartitionTransactions transactions, ReplicaMachine replica) {
        this.name = name;
        this.journal = journal;
        this.transactions = transactions;
        this.replica = replica;
        journal.setHighWatermark(replica.highWatermark());
    }

    /** First offset that can be read. */
    public long startOffset() {
        return journal.startOffset();
    }

    /** Offset behind the last record that consumers may see. */
    public long highWatermark() {
        return replica.highWatermark();
    }

    /**
     * Offset before which every transaction has ended, with its marker below the high watermark. Read-committed
     * consumers see records up to here. At least {@link #startOffset}, at most {@link #highWatermark}.
     */
    public long lastStableOffset() {
        long unstable = Math.max(transactions.firstUnstableOffset(), journal.startOffset());
        return Math.min(highWatermark(), unstable);
    }

    private long visibleOffset(boolean committed) {
        return committed ? lastStableOffset() : highWatermark();
    }

    /**
     * Size of the visible part of the log. Bytes are counted only up to the high watermark: the size before an open
     * transaction is unknown.
     */
    private long visibleBytes(boolean committed) {
        return visibleOffset(committed) == highWatermark() ? readableBytes : PartitionReader.UNKNOWN_BYTES;
    }

    /** Adds records behind the high watermark. They become readable when it advances. */
    public void onAppended(int sizeBytes) {
        unreadableBytes += sizeBytes;
    }

    /**
     * All records before {@code offset} are as safe here as the topic's delivery mode demands. If this advances the high
     * watermark, wakes the readers that now see more.
     */
    public void onSafe(long offset) {
        long stableOffset = lastStableOffset();
        if (replica.onSafe(offset)) {
            onAdvanced(stableOffset);
        }
    }

    /** Another replica fetches, see {@link ReplicaMachine#onFetch}. Wakes the readers that now see more. */
    public void onReplicaFetch(int otherReplica, long offset) {
        long stableOffset = lastStableOffset();
        if (replica.onFetch(otherReplica, offset)) {
            onAdvanced(stableOffset);
        }
    }

    /**
     * The in-sync replicas have changed, see {@link ReplicaMachine#onInSyncReplicas}. Wakes the readers that now see
     * more.
     */
    public void onInSyncReplicas(int[] others, int requiredSize) {
        long stableOffset = lastStableOffset();
        if (replica.onInSyncReplicas(others, requiredSize)) {
            onAdvanced(stableOffset);
        }
    }

    /** @param stableOffset the last stable offset before the high watermark advanced */
    private void onAdvanced(long stableOffset) {
        long highWatermark = replica.highWatermark();
        journal.setHighWatermark(highWatermark);
        transactions.onHighWatermark(highWatermark);
        readableBytes += unreadableBytes;
        unreadableBytes = 0;
        readers.wake(visibleOffset(false), visibleBytes(false));
        if (lastStableOffset() > stableOffset) {
            committedReaders.wake(visibleOffset(true), visibleBytes(true));
        }
    }

    /**
     * Reads whole batches from {@code offset} on. The caller has checked the reader's leader epoch.
     *
     * @param lastFetchedEpoch epoch of the last record that the reader has; -1 if the request does not contain it
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     * @param readCommitted whether to read only up to the last stable offset
     */
    public PartitionRead read(
            long offset, int lastFetchedEpoch, int maxSizeBytes, boolean atLeastOneBatch, boolean readCommitted) {
        if (lastFetchedEpoch >= 0) {
            EpochEndOffset end = journal.epochs().endOffsetOf(lastFetchedEpoch, journal.writtenOffset());
            if (end.epoch() < lastFetchedEpoch || end.endOffset() < offset) {
                return found(ErrorCode.NONE, null, null, end);
            }
        }
        if (offset < journal.startOffset() || offset > journal.endOffset()) {
            return found(ErrorCode.OFFSET_OUT_OF_RANGE, null, null, null);
        }
        long visible = visibleOffset(readCommitted);
        if (offset >= visible || (maxSizeBytes <= 0 && !atLeastOneBatch)) {
            return found(ErrorCode.NONE, null, null, null);
        }
        try {
            JournalSlice slice = journal.read(offset, visible, maxSizeBytes, atLeastOneBatch);
            if (slice.isEmpty()) {
                return found(ErrorCode.NONE, null, null, null);
            }
            AbortedLookup aborted = readCommitted ? new AbortedLookup(journal, offset, slice) : null;
            return found(ErrorCode.NONE, slice, aborted, null);
        } catch (IOException failure) {
            log.error("cannot read: partition={} offset={}", name, offset, failure);
            return PartitionRead.failed(ErrorCode.KAFKA_STORAGE_ERROR);
        }
    }

    private PartitionRead found(ErrorCode error, JournalSlice slice, AbortedLookup aborted, EpochEndOffset diverging) {
        return new PartitionRead(
                error, highWatermark(), lastStableOffset(), journal.startOffset(), slice, aborted, diverging);
    }

    /** Finds offsets by time, on a thread that may block. */
    public TimestampLookup offsetLookup(boolean readCommitted) {
        return new TimestampLookup(journal, visibleOffset(readCommitted));
    }

    /** Records how far {@code reader} has read: only later records are news for it. */
    public void markRead(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        reader.see(visibleOffset(committed), visibleBytes(committed));
    }

    /** Parks {@code reader} until there is news. Informs it at once if there was news since its last read. */
    public void park(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        if (closed || reader.hasUnseen(visibleOffset(committed))) {
            reader.unpark();
            reader.onNews(reader.takeGrowth(visibleOffset(committed), visibleBytes(committed)));
        } else {
            (committed ? committedReaders : readers).add(reader);
        }
    }

    /** Wakes every parked reader, because the log has a new first offset or cannot be read any more. */
    public void wakeAll() {
        readers.wake(visibleOffset(false), visibleBytes(false));
        committedReaders.wake(visibleOffset(true), visibleBytes(true));
    }

    /** Wakes every reader and parks none from now on, because the partition leaves its shard. */
    public void close() {
        closed = true;
        wakeAll();
    }
}
