package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.EpochEndOffset;
import io.journalq.server.replication.KnownProducer;
import io.journalq.server.replication.PartitionTransactions;
import io.journalq.server.replication.ProducerDedup;
import io.journalq.server.replication.ProducerSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition on its shard: its journal, its producers' state, the appends that wait for their journal and the
 * readers that wait for news. Appends of one iteration of the loop are staged and written at its end, all at once.
 *
 * <p>Every method on the shard's loop unless it says otherwise.
 */
public final class PartitionHost {
    private static final Logger log = LoggerFactory.getLogger(PartitionHost.class);

    private final Shard shard;
    private final TopicPartition name;
    private final Journal journal;
    private final ProducerDedup producers;
    private final PartitionTransactions transactions;
    private final BatchAdmission admission;
    private final AppendQueue queue;
    private final ArmedReaders readers = new ArmedReaders();
    private final ArmedReaders committedReaders = new ArmedReaders();
    private final ArrayDeque<Append> unwritten = new ArrayDeque<>();
    private final ArrayDeque<Append> unflushed = new ArrayDeque<>();
    private final ArrayDeque<FlushWait> flushWaits = new ArrayDeque<>();

    /** What lies before this was acknowledged, perhaps from memory: it is not dropped when it cannot be written. */
    private long acknowledgedOffset;

    private final Runnable write = this::write;
    private final Durability durability;
    private PartitionSettings settings;
    private int leaderEpoch;
    private long highWatermark;
    private long readableBytes;
    private long unreadableBytes;
    private int snapshotSegmentCount;
    private CompactionFailure compactionFailure;
    private int hangingTransactions;
    private boolean writeRegistered;
    private boolean failing;
    private volatile boolean closed;

    /** Begins to host a partition whose journal and producer state are recovered. */
    PartitionHost(Shard shard, RecoveredPartition recovered, PartitionSettings settings, int leaderEpoch) {
        this.shard = shard;
        this.name = recovered.name();
        this.journal = recovered.journal();
        this.producers = recovered.producers();
        this.transactions = recovered.transactions();
        this.admission = new BatchAdmission(
                shard.validator(), shard.inlineRoom(), recovered, shard.cycle().counters());
        this.queue = new AppendQueue(shard, this);
        this.settings = settings;
        this.leaderEpoch = leaderEpoch;
        this.snapshotSegmentCount = journal.segmentCount();
        journal.keepBeforeRemoval(() -> ProducerSnapshot.encode(transactions));
        // What a restart finds, it flushes or has flushed: all of it may be seen.
        this.highWatermark = journal.endOffset();
        this.durability = new Durability(shard, this);
        durability.follow(settings.deliveryMode());
    }

    public TopicPartition name() {
        return name;
    }

    /** Whether the partition has left this shard; its readers must look for it anew. */
    public boolean isClosed() {
        return closed;
    }

    public int leaderEpoch() {
        return leaderEpoch;
    }

    /** First offset that can be read. */
    public long logStartOffset() {
        return journal.startOffset();
    }

    /** Offset behind the last record that consumers may see. */
    public long highWatermark() {
        return highWatermark;
    }

    /**
     * Offset before which every transaction has ended, and its end is below the high watermark: consumers of committed
     * records see up to here. At least {@link #logStartOffset}, at most {@link #highWatermark}.
     */
    public long lastStableOffset() {
        long unstable = Math.max(transactions.firstUnstableOffset(), journal.startOffset());
        return Math.min(highWatermark, unstable);
    }

    StoredPartition stored() {
        return new StoredPartition(name, journal.directory().getParent(), journal.sizeBytes());
    }

    PartitionSettings settings() {
        return settings;
    }

    Journal journal() {
        return journal;
    }

    /** Since when, and why, the partition cannot be compacted; a changed configuration is a new try. */
    public record CompactionFailure(long failedMs, String reason) {}

    /** What compaction would have to do here. */
    public CompactionDebt compactionDebt(long nowMs) {
        return journal.compactionDebt(lastStableOffset(), nowMs);
    }

    /** When and why compaction last failed; null when it did not. */
    public CompactionFailure compactionFailure() {
        return compactionFailure;
    }

    /** Compaction failed, or, with null, did not. */
    public void setCompactionFailure(CompactionFailure failure) {
        compactionFailure = failure;
    }

    /** When the journal is compacted, and how. */
    public CompactionConfig compactionConfig() {
        return settings.journal().compaction();
    }

    /** Gives the means to compact the journal on a thread that may block. */
    public Compactable compactable() {
        return new Compactable(this, journal, lastStableOffset(), producers.newestBatchOffsets());
    }

    /** Follows a changed configuration or leader epoch. */
    void update(PartitionSettings newSettings, int newLeaderEpoch) {
        if (!newSettings.equals(settings)) {
            compactionFailure = null;
        }
        settings = newSettings;
        leaderEpoch = newLeaderEpoch;
        journal.setConfig(newSettings.journal());
        durability.follow(newSettings.deliveryMode());
    }

    /**
     * Stages a batch; its listener hears of it once the topic's delivery mode is satisfied, or at once of a refusal.
     *
     * <p>A batch of a transaction goes in only when the append says that the transaction's coordinator knows of it, else
     * INVALID_TXN_STATE. It must come from the coordinator's loop in the same way as markers do ({@link
     * io.journalq.server.loop.LoopCycle#execute}), so that neither overtakes the other.
     */
    public void append(Append append) {
        if (closed) {
            append.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER, null);
        } else if (queue.isBusy()) {
            queue.add(append);
        } else if (!decide(append)) {
            queue.begin(append);
        }
    }

    /** Stages or refuses an append whose turn it is; false when its batch has to be looked into elsewhere first. */
    boolean decide(Append append) {
        if (closed) {
            append.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER, null);
            return true;
        }
        long nowMs = shard.times().clock().millis();
        if (append instanceof MarkerAppend marker) {
            if (admission.admit(marker, leaderEpoch, nowMs)) {
                await(marker, TransactionMarker.BATCH_SIZE_BYTES);
            }
            return true;
        }
        boolean fromMemory = isAcknowledgedFromMemory(append);
        BatchAdmission.Outcome outcome = admission.admit(append, settings, leaderEpoch, nowMs, fromMemory);
        onAdmitted(append, outcome, fromMemory);
        return outcome != BatchAdmission.Outcome.TOO_LARGE_HERE;
    }

    /** Stages or refuses a batch that was looked into elsewhere. */
    void decide(LargeBatchCheck check) {
        Append append = check.append();
        if (closed) {
            check.drop();
            append.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER, null);
            return;
        }
        boolean fromMemory = isAcknowledgedFromMemory(append);
        long nowMs = shard.times().clock().millis();
        onAdmitted(append, admission.admit(check, leaderEpoch, nowMs, fromMemory), fromMemory);
    }

    private void onAdmitted(Append append, BatchAdmission.Outcome outcome, boolean fromMemory) {
        if (outcome == BatchAdmission.Outcome.STAGED) {
            int sizeBytes = append.keptSizeBytes();
            if (fromMemory) {
                acknowledgeFromMemory(append, sizeBytes);
            } else {
                await(append, sizeBytes);
            }
        }
    }

    /** While writing fails, nothing is: what cannot be kept would be acknowledged without end. */
    private boolean isAcknowledgedFromMemory(Append append) {
        return settings.deliveryMode() == DeliveryMode.PERFORMANCE && !failing && !append.isInTransaction();
    }

    private void acknowledgeFromMemory(Append append, int sizeBytes) {
        unreadableBytes += sizeBytes;
        acknowledgedOffset = Math.max(acknowledgedOffset, append.nextOffset());
        shard.lateWrites().add(this, sizeBytes, settings.writeIntervalMs());
        append.complete(journal.startOffset());
    }

    /** Writes what was acknowledged from memory. */
    void writeLate() {
        if (journal.isDirty()) {
            write();
        }
    }

    /**
     * Stages the end of a transaction, behind all that was appended before; its listener hears of it as with {@link
     * #append}, see {@link MarkerAppend} for the outcomes. A marker for a producer that wrote nothing here is written too;
     * one that is there already, with nothing of its producer behind it, is answered as the first time.
     */
    public void appendMarker(MarkerAppend append) {
        append(append);
    }

    private void await(Append append, int sizeBytes) {
        unwritten.add(append);
        unreadableBytes += sizeBytes;
        if (!writeRegistered) {
            writeRegistered = true;
            shard.cycle().onWrite(write);
        }
    }

    /**
     * Reads whole batches from {@code offset} on.
     *
     * @param currentLeaderEpoch the epoch that the reader believes in; -1 when it does not say
     * @param lastFetchedEpoch epoch of the last record that the reader has; -1 when it does not say
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     * @param readCommitted whether records are wanted only once their transactions have ended, else all that is readable
     */
    public PartitionRead read(
            long offset,
            int currentLeaderEpoch,
            int lastFetchedEpoch,
            int maxSizeBytes,
            boolean atLeastOneBatch,
            boolean readCommitted) {
        ErrorCode epochError = checkLeaderEpoch(currentLeaderEpoch);
        if (epochError != ErrorCode.NONE) {
            return PartitionRead.failed(epochError);
        }
        if (lastFetchedEpoch >= 0) {
            EpochEndOffset end = journal.endOffsetForEpoch(lastFetchedEpoch);
            if (end.epoch() < lastFetchedEpoch || end.endOffset() < offset) {
                return found(ErrorCode.NONE, null, null, end);
            }
        }
        if (offset < journal.startOffset() || offset > journal.endOffset()) {
            return found(ErrorCode.OFFSET_OUT_OF_RANGE, null, null, null);
        }
        long visible = readCommitted ? lastStableOffset() : highWatermark;
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
                error, highWatermark, lastStableOffset(), journal.startOffset(), slice, aborted, diverging);
    }

    /** Whether a client's idea of the leader's epoch is this one (KIP-320); -1 always is. */
    public ErrorCode checkLeaderEpoch(int currentLeaderEpoch) {
        if (closed) {
            return ErrorCode.NOT_LEADER_OR_FOLLOWER;
        }
        if (currentLeaderEpoch < 0 || currentLeaderEpoch == leaderEpoch) {
            return ErrorCode.NONE;
        }
        return currentLeaderEpoch < leaderEpoch ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH;
    }

    /** Remembers how far {@code reader} has read, so that only what comes later is news to it. */
    public void markRead(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        reader.see(visibleOffset(committed), visibleBytes(committed));
    }

    /** Has {@code reader} told of the next news; at once when there was some since its last read. */
    public void arm(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        if (closed || reader.hasUnseen(visibleOffset(committed))) {
            ArmedReaders.disarm(reader);
            reader.onNews(reader.takeGrowth(visibleOffset(committed), visibleBytes(committed)));
        } else {
            (committed ? committedReaders : readers).add(reader);
        }
    }

    public void disarm(PartitionReader reader) {
        ArmedReaders.disarm(reader);
    }

    private long visibleOffset(boolean committed) {
        return committed ? lastStableOffset() : highWatermark;
    }

    /** Bytes are counted up to the high watermark only: before an open transaction their number is not known. */
    private long visibleBytes(boolean committed) {
        return visibleOffset(committed) == highWatermark ? readableBytes : PartitionReader.UNKNOWN_BYTES;
    }

    private void fireAll() {
        readers.fire(visibleOffset(false), visibleBytes(false));
        committedReaders.fire(visibleOffset(true), visibleBytes(true));
    }

    /** The idempotent and transactional producers that wrote here and are not forgotten. */
    public List<KnownProducer> producers() {
        return transactions.knownProducers();
    }

    /** Transactions that are open for longer than any may be: their coordinator does not end them. */
    int hangingTransactions() {
        return hangingTransactions;
    }

    /** The epoch in which the record at {@code offset} was written; -1 when unknown. */
    public int epochOf(long offset) {
        return journal.epochOf(offset);
    }

    /** Finds offsets by time, on a thread that may block; of records that are committed, or of all that is readable. */
    public OffsetLookup offsetLookup(boolean readCommitted) {
        return new OffsetLookup(journal, visibleOffset(readCommitted));
    }

    /** Where the partition ends, before anything is appended to it. */
    RecoveredEnd recoveredEnd() {
        return new RecoveredEnd(journal, highWatermark, leaderEpoch);
    }

    /** Where an epoch's records end. */
    public EpochEndOffset endOffsetForEpoch(int epoch) {
        return journal.endOffsetForEpoch(epoch);
    }

    /**
     * Gives up everything before {@code offset}, at once and for good: {@code done} hears of it on the loop once no crash
     * brings it back.
     *
     * @param offset the new first offset; -1 for the high watermark
     * @param done takes {@link ErrorCode#NONE}, or why not: POLICY_VIOLATION for a topic that is compacted and nothing
     *     else, KAFKA_STORAGE_ERROR when it is out of sight, but cannot be written down
     */
    public void deleteRecordsBefore(long offset, Consumer<ErrorCode> done) {
        if (!settings.deletes()) {
            done.accept(ErrorCode.POLICY_VIOLATION);
            return;
        }
        long target = offset == -1 ? highWatermark : offset;
        if (target < 0 || target > highWatermark || target > journal.writtenOffset()) {
            done.accept(ErrorCode.OFFSET_OUT_OF_RANGE);
            return;
        }
        writeStaged();
        journal.deleteRecordsBefore(target);
        fireAll();
        if (!shard.runBlocking(() -> {
            ErrorCode outcome = keepStart();
            shard.cycle().execute(() -> done.accept(outcome));
        })) {
            done.accept(ErrorCode.KAFKA_STORAGE_ERROR);
        }
    }

    /** Any thread; blocks. */
    private ErrorCode keepStart() {
        try {
            journal.checkpoint();
            return ErrorCode.NONE;
        } catch (IOException failure) {
            log.error("cannot write the log's start down: partition={} reason=\"{}\"", name, failure.getMessage());
            return ErrorCode.KAFKA_STORAGE_ERROR;
        }
    }

    /** Somebody who waits until what is before an offset is on the disk. */
    private record FlushWait(long offset, Consumer<ErrorCode> done) {}

    /**
     * Syncs soon what is written by now, whatever the topic's mode.
     *
     * @param done hears on the loop that it is on the disk, or of what is in the way: KAFKA_STORAGE_ERROR,
     *     NOT_LEADER_OR_FOLLOWER
     */
    public void flush(Consumer<ErrorCode> done) {
        if (closed) {
            done.accept(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        } else if (durability.durableOffset(journal.flushedOffset()) >= journal.writtenOffset()) {
            done.accept(ErrorCode.NONE);
        } else {
            flushWaits.add(new FlushWait(journal.writtenOffset(), done));
            if (isFlushAwaited() || journal.isFenced()) {
                shard.flusher().flushSoon(this);
            }
        }
    }

    /** Whether somebody waits for a flush of the journal, and not for what else makes it durable. */
    boolean isFlushAwaited() {
        return durability.awaitsFlush() || (!flushWaits.isEmpty() && !durability.isCovered());
    }

    private void endFlushWaits(long upToOffset, ErrorCode outcome) {
        while (!flushWaits.isEmpty() && flushWaits.peek().offset() <= upToOffset) {
            flushWaits.poll().done().accept(outcome);
        }
    }

    /** The state of producers can be kept before records are deleted only while nothing is ahead of the journal. */
    private void writeStaged() {
        if (journal.isDirty()) {
            write();
        }
    }

    private void write() {
        writeRegistered = false;
        if (closed) {
            return;
        }
        long writtenBefore = journal.writtenOffset();
        durability.fenceAfterFailure();
        try {
            journal.write(acknowledgedOffset);
            if (failing && journal.writtenOffset() > writtenBefore) {
                failing = false;
                log.info("partition accepts records again: partition={}", name);
            }
        } catch (IOException failure) {
            onWriteFailure(failure);
        }
        admission.onWritten(journal.writtenOffset(), Math.max(journal.writtenOffset(), acknowledgedOffset));
        shard.flusher().onWritten(this);
        snapshotIfRolled();
        if (settings.deliveryMode() == DeliveryMode.CONSISTENT) {
            unflushed.addAll(unwritten);
            unwritten.clear();
        } else {
            advanceHighWatermark(journal.writtenOffset());
            completeUpTo(unwritten, highWatermark);
        }
    }

    /**
     * What could not be written is dropped from the journal: its producers are told, and may send it again. What was
     * acknowledged from memory stays there, and is tried again.
     */
    private void onWriteFailure(IOException failure) {
        if (!failing) {
            failing = true;
            log.error("cannot write: partition={} reason=\"{}\"", name, failure.getMessage(), failure);
        }
        shard.flusher().flushSoon(this);
        long keptOffset = Math.max(journal.writtenOffset(), acknowledgedOffset);
        if (journal.isDirty()) {
            shard.lateWrites().add(this, 0, settings.writeIntervalMs());
        }
        transactions.truncateTo(keptOffset);
        List<Append> lost = new ArrayList<>();
        for (Append append : unwritten) {
            if (append.nextOffset() > keptOffset) {
                lost.add(append);
            }
        }
        unwritten.removeAll(lost);
        refuseByDisk(lost, failure);
    }

    /** Up to where it is durable, and what more waits for. */
    Durability durability() {
        return durability;
    }

    /** What was written before {@code offset} survives a power loss now. */
    void onDurable(long offset) {
        if (closed) {
            return;
        }
        if (offset > highWatermark) {
            advanceHighWatermark(offset);
        }
        completeUpTo(unflushed, offset);
        endFlushWaits(offset, ErrorCode.NONE);
    }

    /** The disk failed under what was written: nobody can say what of it is safe. */
    void onFlushFailure(IOException failure) {
        if (failure instanceof SyncNotBegunException) {
            shard.flusher().onNotBegun(this, failure);
            if (!isFlushAwaited()) {
                return; // Appends that wait do so for something else.
            }
        } else if (!failing) {
            failing = true;
            log.error("cannot flush: partition={} reason=\"{}\"", name, failure.getMessage(), failure);
        }
        List<Append> lost = List.copyOf(unflushed);
        unflushed.clear();
        refuseByDisk(lost, failure);
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
    }

    private void refuseByDisk(List<Append> lost, IOException failure) {
        shard.cycle().counters().onRefusedByDisk(lost.size());
        lost.forEach(append -> append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, failure.getMessage()));
    }

    /** Forgets silent producers. */
    void expireProducers(ShardTimes times) {
        producers.onTick(times.clock().millis(), times.producerExpiryMs().getAsLong());
    }

    /** Looks after the journal by the clock: closes and gives up old segments. */
    void maintain(ShardTimes times) {
        long nowMs = times.clock().millis();
        countHangingTransactions(times, nowMs);
        writeStaged();
        if (journal.applyRetention(nowMs, highWatermark) > 0) {
            fireAll();
        }
        journal.releaseIdleFiles();
        snapshotIfRolled();
    }

    private void countHangingTransactions(ShardTimes times, long nowMs) {
        int count = transactions.openLongerThan(times.transactionMaxTimeoutMs(), nowMs);
        if (count > hangingTransactions) {
            log.warn(
                    "transactions are open for longer than any may be, committed records behind them are not seen:"
                            + " partition={} transactions={} lastStableOffset={}",
                    name,
                    count,
                    lastStableOffset());
        }
        hangingTransactions = count;
    }

    /** Keeps the producers' state with each new segment, so that a restart replays little. */
    private void snapshotIfRolled() {
        // The producers' state is ahead of the journal while something is staged.
        if (journal.segmentCount() == snapshotSegmentCount || journal.isDirty()) {
            return;
        }
        snapshotSegmentCount = journal.segmentCount();
        long offset = journal.writtenOffset();
        ByteBuffer state = ProducerSnapshot.encode(transactions);
        shard.runBlocking(() -> {
            try {
                journal.writeDurableSnapshot(offset, state);
            } catch (IOException failure) {
                onSnapshotFailure(failure);
            }
        });
    }

    private void onSnapshotFailure(IOException failure) {
        log.warn("cannot write a producer snapshot: partition={} reason=\"{}\"", name, failure.getMessage());
    }

    /** After {@link #close}: flushes and closes the journal. Any thread; blocks. */
    void closeJournal() {
        try {
            // Not synced: a stop is quick, and the one before it is.
            journal.writeSnapshot(journal.writtenOffset(), ProducerSnapshot.encode(transactions));
        } catch (IOException failure) {
            onSnapshotFailure(failure);
        }
        try {
            journal.close();
        } catch (IOException failure) {
            log.error("cannot close the journal: partition={}", name, failure);
        }
    }

    /** After {@link #close}: deletes the journal. Any thread; blocks. */
    void deleteJournal() {
        try {
            journal.delete();
        } catch (IOException failure) {
            log.error("cannot delete the journal: partition={}", name, failure);
        }
        durability.forget();
    }

    /** Leaves the shard. Waiting appends are refused, waiting readers told. The journal stays open for its next owner. */
    void close() {
        if (journal.isDirty()) {
            // What is staged is in the producers' state already: both go on together.
            write();
        }
        if (journal.isDirty()) {
            log.error(
                    "what was acknowledged from memory is lost, as it cannot be written: partition={} fromOffset={}",
                    name,
                    journal.writtenOffset());
            transactions.truncateTo(journal.writtenOffset());
        }
        durability.end();
        closed = true;
        failAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        fireAll();
    }

    private void failAll(ErrorCode error) {
        while (!unflushed.isEmpty()) {
            unflushed.poll().refuse(error, null);
        }
        while (!unwritten.isEmpty()) {
            unwritten.poll().refuse(error, null);
        }
        endFlushWaits(Long.MAX_VALUE, error);
    }

    private void advanceHighWatermark(long offset) {
        if (offset == highWatermark) {
            return;
        }
        long stableOffset = lastStableOffset();
        highWatermark = offset;
        transactions.onHighWatermark(offset);
        readableBytes += unreadableBytes;
        unreadableBytes = 0;
        readers.fire(visibleOffset(false), visibleBytes(false));
        if (lastStableOffset() > stableOffset) {
            committedReaders.fire(visibleOffset(true), visibleBytes(true));
        }
    }

    private void completeUpTo(ArrayDeque<Append> waiting, long offset) {
        long startOffset = journal.startOffset();
        for (Append head = waiting.peek(); head != null && head.nextOffset() <= offset; head = waiting.peek()) {
            waiting.poll().complete(startOffset);
        }
    }
}
