package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.segment.EpochEndOffset;
import io.journalq.server.replication.KnownProducer;
import io.journalq.server.shard.flush.Durability;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.shard.read.ReadableLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition on its shard, for whoever appends to it or reads it, and for the shard, which opens, follows and closes it.
 * {@link BatchAdmission} stages what may enter the journal, {@link PartitionWriter} writes and acknowledges it, {@link
 * ReadableLog} shows it to readers, {@link PartitionProducers} keeps the producers' state.
 *
 * <p>Every method on the shard's loop unless it says otherwise.
 */
public final class PartitionHost {
    private static final Logger log = LoggerFactory.getLogger(PartitionHost.class);

    private final Shard shard;
    private final TopicPartition name;
    private final Journal journal;
    private final PartitionProducers producers;
    private final BatchAdmission admission;
    private final AppendQueue queue;
    private final ReadableLog readable;
    private final Durability durability;
    private final PartitionWriter writer;
    private PartitionSettings settings;
    private int leaderEpoch;
    private CompactionFailure compactionFailure;
    private boolean offline;
    /** What was acknowledged from memory could not be written before the close. */
    private boolean lostAcknowledged;

    private volatile boolean closed;

    /** Begins to host a partition whose journal and producer state are recovered. */
    PartitionHost(Shard shard, RecoveredPartition recovered, PartitionSettings settings, int leaderEpoch) {
        this.shard = shard;
        this.name = recovered.name();
        this.journal = recovered.journal();
        this.producers = new PartitionProducers(shard, recovered);
        this.admission = new BatchAdmission(
                shard.validator(), shard.inlineRoom(), recovered, shard.cycle().counters());
        this.queue = new AppendQueue(shard, this);
        // All that was recovered can be read: a restart flushes it, unless it was flushed before.
        this.readable = new ReadableLog(name, journal, recovered.transactions(), journal.endOffset());
        this.settings = settings;
        this.leaderEpoch = leaderEpoch;
        this.durability = new Durability(name, journal, shard.flusher(), shard.walBuffers());
        this.writer = new PartitionWriter(shard, this, admission, producers, readable, durability);
        durability.follow(settings.deliveryMode() == DeliveryMode.CONSISTENT, settings.flushIntervalMs());
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

    /** The log as readers see it. */
    public ReadableLog log() {
        return readable;
    }

    Durability durability() {
        return durability;
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
        return journal.compactionDebt(readable.lastStableOffset(), nowMs);
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
        return new Compactable(this, journal, readable.lastStableOffset(), producers.newestBatchOffsets());
    }

    /** Follows a changed configuration or leader epoch. */
    void update(PartitionSettings newSettings, int newLeaderEpoch) {
        if (!newSettings.equals(settings)) {
            compactionFailure = null;
        }
        settings = newSettings;
        leaderEpoch = newLeaderEpoch;
        journal.setConfig(newSettings.journal());
        durability.follow(newSettings.deliveryMode() == DeliveryMode.CONSISTENT, newSettings.flushIntervalMs());
    }

    /**
     * Stages a batch; its listener hears of it once the topic's delivery mode is satisfied, or at once of a refusal.
     *
     * <p>A batch of a transaction goes in only when the append says that the transaction's coordinator knows of it, else
     * INVALID_TXN_STATE. It must come from the coordinator's loop in the same way as markers do ({@link
     * io.journalq.server.loop.LoopCycle#execute}), so that neither overtakes the other.
     */
    public void append(Append append) {
        if (refuses(append)) {
            return;
        }
        if (queue.isBusy()) {
            queue.add(append);
        } else if (!decide(append)) {
            queue.begin(append);
        }
    }

    /** Stages or refuses an append whose turn it is; false when its batch has to be looked into elsewhere first. */
    boolean decide(Append append) {
        if (refuses(append)) {
            return true;
        }
        long nowMs = shard.times().clock().millis();
        if (append instanceof MarkerAppend marker) {
            if (admission.admit(marker, leaderEpoch, nowMs)) {
                writer.writeAndAcknowledge(marker, TransactionMarker.BATCH_SIZE_BYTES);
            }
            return true;
        }
        boolean fromMemory = writer.acknowledgesFromMemory(append);
        BatchAdmission.Outcome outcome = admission.admit(append, settings, leaderEpoch, nowMs, fromMemory);
        onAdmitted(append, outcome, fromMemory);
        return outcome != BatchAdmission.Outcome.TOO_LARGE_HERE;
    }

    /** Stages or refuses a batch that was looked into elsewhere. */
    void decide(LargeBatchCheck check) {
        Append append = check.append();
        if (refuses(append)) {
            check.drop();
            return;
        }
        boolean fromMemory = writer.acknowledgesFromMemory(append);
        long nowMs = shard.times().clock().millis();
        onAdmitted(append, admission.admit(check, leaderEpoch, nowMs, fromMemory), fromMemory);
    }

    private boolean refuses(Append append) {
        ErrorCode error = availability();
        if (error == ErrorCode.NONE) {
            return false;
        }
        append.refuse(error, null);
        return true;
    }

    /** What a client is told when nothing can be asked of the partition here, else NONE. */
    private ErrorCode availability() {
        if (closed) {
            return ErrorCode.NOT_LEADER_OR_FOLLOWER;
        }
        return offline ? ErrorCode.KAFKA_STORAGE_ERROR : ErrorCode.NONE;
    }

    private void onAdmitted(Append append, BatchAdmission.Outcome outcome, boolean fromMemory) {
        if (outcome == BatchAdmission.Outcome.STAGED) {
            int sizeBytes = append.keptSizeBytes();
            if (fromMemory) {
                writer.acknowledgeFromMemory(append, sizeBytes);
            } else {
                writer.writeAndAcknowledge(append, sizeBytes);
            }
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
        return epochError == ErrorCode.NONE
                ? readable.read(offset, lastFetchedEpoch, maxSizeBytes, atLeastOneBatch, readCommitted)
                : PartitionRead.failed(epochError);
    }

    /** Whether a client's idea of the leader's epoch is this one (KIP-320); -1 always is. */
    public ErrorCode checkLeaderEpoch(int currentLeaderEpoch) {
        ErrorCode error = availability();
        if (error != ErrorCode.NONE) {
            return error;
        }
        if (currentLeaderEpoch < 0 || currentLeaderEpoch == leaderEpoch) {
            return ErrorCode.NONE;
        }
        return currentLeaderEpoch < leaderEpoch ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH;
    }

    /** The idempotent and transactional producers that wrote here and are not forgotten. */
    public List<KnownProducer> producers() {
        return producers.known();
    }

    /** Transactions that are open for longer than any may be: their coordinator does not end them. */
    int hangingTransactions() {
        return producers.hangingTransactions();
    }

    /** The epoch in which the record at {@code offset} was written; -1 when unknown. */
    public int epochOf(long offset) {
        return journal.epochOf(offset);
    }

    /** Where the partition ends, before anything is appended to it. */
    RecoveredEnd recoveredEnd() {
        return new RecoveredEnd(journal, readable.highWatermark(), leaderEpoch);
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
        if (availability() != ErrorCode.NONE) {
            done.accept(availability());
            return;
        }
        if (!settings.deletes()) {
            done.accept(ErrorCode.POLICY_VIOLATION);
            return;
        }
        long target = offset == -1 ? readable.highWatermark() : offset;
        if (target < 0 || target > readable.highWatermark() || target > journal.writtenOffset()) {
            done.accept(ErrorCode.OFFSET_OUT_OF_RANGE);
            return;
        }
        writer.writeStaged();
        journal.deleteRecordsBefore(target);
        readable.wakeAll();
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

    /**
     * Syncs soon what is written by now, whatever the topic's mode.
     *
     * @param done hears on the loop that it is on the disk, or of what is in the way: KAFKA_STORAGE_ERROR,
     *     NOT_LEADER_OR_FOLLOWER
     */
    public void flush(Consumer<ErrorCode> done) {
        if (availability() != ErrorCode.NONE) {
            done.accept(availability());
        } else {
            durability.flush(done);
        }
    }

    /** Forgets silent producers. */
    void expireProducers(ShardTimes times) {
        producers.expire(times);
    }

    /** Looks after the journal by the clock: closes and gives up old segments. */
    void maintain(ShardTimes times) {
        if (offline) {
            return;
        }
        long nowMs = times.clock().millis();
        producers.countHanging(times, nowMs, readable.lastStableOffset());
        writer.writeStaged();
        if (journal.applyRetention(times.retentionClock().nowMs(), readable.highWatermark()) > 0) {
            readable.wakeAll();
        }
        journal.releaseIdleFiles();
        producers.snapshotIfRolled();
    }

    /** Whether the partition lies in a data directory. */
    boolean isIn(Path dataDirectory) {
        return dataDirectory.equals(journal.directory().getParent());
    }

    /**
     * The partition's files can be used no more. Waiting appends are refused, waiting readers told, and from now on everybody
     * gets KAFKA_STORAGE_ERROR. What lies at the files' place is left alone.
     */
    void takeOffline(IOException reason) {
        offline = true;
        journal.fence(reason);
        writer.takeOffline(reason);
        readable.wakeAll();
    }

    /** Whether the partition's files can be used no more. */
    public boolean isOffline() {
        return offline;
    }

    /** After {@link #close}: flushes and closes the journal. False when something may be lost. Any thread; blocks. */
    boolean closeJournal() {
        if (!offline) {
            producers.snapshotAtClose();
        }
        try {
            journal.close();
            return !lostAcknowledged;
        } catch (IOException failure) {
            log.error("cannot close the journal: partition={}", name, failure);
            return false;
        }
    }

    /** After {@link #close}: deletes the journal. Any thread; blocks. */
    void deleteJournal() {
        try {
            if (offline) {
                journal.close();
            } else {
                journal.delete();
            }
        } catch (IOException failure) {
            log.error("cannot delete the journal: partition={}", name, failure);
        }
        durability.forget();
    }

    /** Leaves the shard. Waiting appends are refused, waiting readers told. The journal stays open for its next owner. */
    void close() {
        // What is staged is in the producers' state already: both go on together.
        writer.writeStaged();
        if (journal.isDirty()) {
            log.error(
                    "what was acknowledged from memory is lost, as it cannot be written: partition={} fromOffset={}",
                    name,
                    journal.writtenOffset());
            producers.truncateTo(journal.writtenOffset());
            lostAcknowledged = true;
        }
        producers.end();
        closed = true;
        writer.end();
        readable.close();
    }
}
