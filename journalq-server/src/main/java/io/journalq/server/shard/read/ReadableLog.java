package io.journalq.server.shard.read;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.replication.ReplicaMachine;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one partition, as its readers see it: up to the high watermark or, for read-committed consumers, up to the
 * last stable offset. Parks readers until these offsets advance. Only the append path advances them
 * ({@link #onAppended}, {@link #onSafe}). On the partition's loop.
 */
public final class ReadableLog {
    private static final Logger log = LoggerFactory.getLogger(ReadableLog.class);

    private static final LogThrottle SHORTAGES = new LogThrottle(log, 1);

    private final TopicPartition name;
    private final Journal journal;
    private final PartitionTransactions transactions;
    private final ParkedFetches readers = new ParkedFetches();
    private final ParkedFetches committedReaders = new ParkedFetches();
    private final ReplicaMachine replica;
    /** Null until another replica is parked here. */
    private ParkedReplicas replicaReaders;

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

    /** Offset behind the last record, including those that are not written yet. */
    public long endOffset() {
        return journal.endOffset();
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

    /**
     * Changes the replica, such as by a fetch of another one or by other in-sync replicas. If this advances the high
     * watermark, wakes the readers that now see more.
     *
     * @param change returns whether the high watermark has advanced
     */
    public void onReplicaChange(BooleanSupplier change) {
        long stableOffset = lastStableOffset();
        if (change.getAsBoolean()) {
            onAdvanced(stableOffset);
        }
    }

    /** Batches were written: wakes the other replicas that wait for them. */
    public void onWritten() {
        if (replicaReaders != null) {
            replicaReaders.wake(replica.endOffset(), readableBytes + unreadableBytes);
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
        if (replicaReaders != null) {
            replicaReaders.wakeSoon();
        }
    }

    /**
     * Reads whole batches from {@code offset} on. The caller has checked the reader's leader epoch. If the reader has
     * records of an epoch that this log has not reached, they are of another log, such as that of a deleted topic of the
     * same name, and the offset is out of range.
     *
     * @param lastFetchedEpoch epoch of the last record that the reader has; -1 if the request does not contain it
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     * @param readCommitted whether to read only up to the last stable offset
     */
    public PartitionRead read(
            long offset, int lastFetchedEpoch, int maxSizeBytes, boolean atLeastOneBatch, boolean readCommitted) {
        EpochEndOffset diverging = divergingEpoch(offset, lastFetchedEpoch);
        if (diverging != null) {
            return diverging.epoch() < 0
                    ? found(ErrorCode.OFFSET_OUT_OF_RANGE, null, null, null)
                    : found(ErrorCode.NONE, null, null, diverging);
        }
        return find(offset, visibleOffset(readCommitted), maxSizeBytes, atLeastOneBatch, readCommitted);
    }

    /**
     * Where the log of a reader diverges from this one.
     *
     * @param offset the end of the reader's log
     * @param lastFetchedEpoch epoch of the last record that the reader has; -1 if the request does not contain it
     * @return the largest epoch up to that, and its end; null if the log does not diverge
     */
    public EpochEndOffset divergingEpoch(long offset, int lastFetchedEpoch) {
        if (lastFetchedEpoch < 0) {
            return null;
        }
        EpochEndOffset end = journal.epochs().endOffsetOf(lastFetchedEpoch, journal.writtenOffset());
        return end.epoch() < lastFetchedEpoch || end.endOffset() < offset ? end : null;
    }

    /** The result for a replica whose log diverges from this one. */
    public PartitionRead diverging(EpochEndOffset end) {
        return found(ErrorCode.NONE, null, null, end);
    }

    /** Reads whole batches from {@code offset} on for another replica, up to the end of what is written. */
    public PartitionRead readWritten(long offset, int maxSizeBytes, boolean atLeastOneBatch) {
        return find(offset, journal.writtenOffset(), maxSizeBytes, atLeastOneBatch, false);
    }

    private PartitionRead find(
            long offset, long visible, int maxSizeBytes, boolean atLeastOneBatch, boolean readCommitted) {
        if (offset < journal.startOffset() || offset > journal.endOffset()) {
            return found(ErrorCode.OFFSET_OUT_OF_RANGE, null, null, null);
        }
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
        } catch (OutOfMemoryError noDirectMemory) {
            // A fetch that waits for the reads of several loops, or was parked, would never get its response.
            SHORTAGES.warn("records not found, out of direct memory", "fetch", noDirectMemory.getMessage());
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
            if (reader.isParkedIn(committed ? readers : committedReaders)) {
                reader.unpark(); // Its client sees other records now.
            }
            (committed ? committedReaders : readers).add(reader);
        }
    }

    /** Like {@link #markRead}, for another replica that has read what is written. */
    public void markReadByReplica(PartitionReader reader) {
        reader.see(journal.writtenOffset(), readableBytes + unreadableBytes);
    }

    /**
     * Like {@link #park}, for another replica.
     *
     * @param knownHighWatermark the one that the replica was told last
     * @param cycle of the partition's loop
     */
    public void parkReplica(PartitionReader reader, long knownHighWatermark, LoopCycle cycle) {
        if (closed || reader.hasUnseen(journal.writtenOffset())) {
            reader.unpark();
            reader.onNews(reader.takeGrowth(journal.writtenOffset(), readableBytes + unreadableBytes));
            return;
        }
        if (replicaReaders == null) {
            replicaReaders = new ParkedReplicas(cycle);
        }
        replicaReaders.add(reader);
        if (highWatermark() > knownHighWatermark) {
            replicaReaders.wakeSoon();
        }
    }

    /** Wakes every parked reader, because the log has a new first offset or cannot be read any more. */
    public void wakeAll() {
        readers.wake(visibleOffset(false), visibleBytes(false));
        committedReaders.wake(visibleOffset(true), visibleBytes(true));
        if (replicaReaders != null) {
            replicaReaders.wakeNow();
        }
    }

    /** Wakes every reader and parks none from now on, because the partition leaves its shard. */
    public void close() {
        closed = true;
        wakeAll();
    }
}
