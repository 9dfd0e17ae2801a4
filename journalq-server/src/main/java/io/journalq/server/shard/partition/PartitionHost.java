package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.loop.BlockingWork;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.append.AppendResources;
import io.journalq.server.shard.append.BatchAdmission;
import io.journalq.server.shard.append.BlockedAppends;
import io.journalq.server.shard.append.PartitionProducers;
import io.journalq.server.shard.append.PartitionWriter;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import io.journalq.server.shard.partition.PartitionFiles.RecoveredPartition;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.shard.read.ReadableLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition on its shard: creates the parts that append, flush and read, and opens, updates and closes them
 * together. The parts call only downwards; none of them knows this class.
 *
 * <p>All methods run on the shard's loop unless they say otherwise.
 */
public final class PartitionHost {
    private static final Logger log = LoggerFactory.getLogger(PartitionHost.class);

    private final LoopCycle cycle;
    private final BlockingWork blockingWork;
    private final Uuid topicId;
    private final TopicPartition name;
    private final Journal journal;
    private final ReplicaMachine replica;
    private final PartitionProducers producers;
    private final ReadableLog readable;
    private final PartitionDurability durability;
    private final PartitionWriter writer;
    private final BlockedAppends appends;
    private final TopicCounters topicCounters;
    private final PartitionParts parts;
    private final PartitionRole role;
    /** Null until the partition has other replicas. */
    private PartitionReplication replication;

    private CompactionFailure compactionFailure;
    /** Batches that were acknowledged from memory could not be written before the close. */
    private boolean lostAcknowledged;

    /**
     * Hosts a partition whose journal and producer state are recovered.
     *
     * @param topicCounters of the partition's topic
     */
    public PartitionHost(
            PartitionResources resources,
            RecoveredPartition recovered,
            TopicCounters topicCounters,
            PartitionSettings settings,
            ReplicaSet replicas) {
        this.cycle = resources.cycle();
        this.blockingWork = resources.blockingWork();
        this.topicId = recovered.topicId();
        this.name = recovered.name();
        this.journal = recovered.journal();
        this.replica = recovered.replica();
        this.topicCounters = topicCounters;
        this.producers = new PartitionProducers(
                name, journal, recovered.transactions(), blockingWork, resources.producerMemory());
        this.readable = new ReadableLog(name, journal, recovered.transactions(), replica);
        this.durability = new PartitionDurability(name, journal, resources.flusher(), resources.walBuffers());
        this.writer = new PartitionWriter(resources.appends(), name, journal, producers, replica, readable, durability);
        BatchAdmission admission =
                new BatchAdmission(resources.appends(), name, journal, producers, replica, writer, topicCounters);
        this.appends = new BlockedAppends(resources.appends(), name, admission);
        this.parts = new PartitionParts(
                name,
                journal,
                replica,
                producers,
                readable,
                durability,
                writer,
                admission,
                appends,
                resources.appends().clock(),
                cycle.loop(),
                resources.throttles());
        this.role =
                new PartitionRole(parts, resources.nodeId(), resources.appends().guards());
        role.follow(settings, replicas, false);
    }

    public TopicPartition name() {
        return name;
    }

    public Uuid topicId() {
        return topicId;
    }

    /** Whether the partition has left this shard, so that its readers must look it up again. Any thread. */
    public boolean isClosed() {
        return role.isClosed();
    }

    /** Whether the partition's files cannot be used any more. */
    public boolean isOffline() {
        return role.isOffline();
    }

    /** Whether the partition's files can be written. After a failed fsync, they can only be read. */
    public boolean isWritable() {
        return !role.isOffline() && !journal.isFenced();
    }

    /** Sets who is informed when the partition's files cannot be written any more. On the loop. */
    public void setFailureListener(Runnable listener) {
        writer.setFailureListener(listener);
    }

    public int leaderEpoch() {
        return replica.leaderEpoch();
    }

    /** The log, as readers see it. */
    public ReadableLog log() {
        return readable;
    }

    /** The counters of the partition's topic. Any thread. */
    public TopicCounters topicCounters() {
        return topicCounters;
    }

    /** The idempotent and transactional producers. */
    public PartitionProducers producers() {
        return producers;
    }

    /** The partition's files. */
    public Journal journal() {
        return journal;
    }

    PartitionDurability durability() {
        return durability;
    }

    /** The partition's disk usage. */
    public StoredPartition stored() {
        return new StoredPartition(name, journal.directory().getParent(), journal.sizeBytes());
    }

    /** Since when, and why, the partition cannot be compacted. A changed configuration causes a retry. */
    public record CompactionFailure(long failedMs, String reason) {}

    /** The amount of work for compaction. */
    public CompactionDebt compactionDebt(long nowMs) {
        return journal.rewrites().debt(readable.lastStableOffset(), nowMs);
    }

    /** When and why compaction last failed; null if it did not. */
    public CompactionFailure compactionFailure() {
        return compactionFailure;
    }

    /** Sets why compaction failed; null if it did not. */
    public void setCompactionFailure(CompactionFailure failure) {
        compactionFailure = failure;
    }

    /** When and how the journal is compacted. */
    public CompactionConfig compactionConfig() {
        return role.settings().journal().compaction();
    }

    /** The compaction of the journal, for a thread that may block. */
    public CompactablePartition compactable() {
        return new CompactablePartition(
                journal, readable.lastStableOffset(), producers.newestBatchOffsets(), this::isClosed);
    }

    /** What a thread that may block needs to heal the journal. */
    public HealablePartition healable() {
        return new HealablePartition(name, journal, role.sources(), readable.highWatermark(), this::isClosed);
    }

    /**
     * Applies a changed configuration or other replicas.
     *
     * @param lastLeaderLives whether the broker that led before a change of leader still runs, as far as is known
     */
    public void update(PartitionSettings newSettings, ReplicaSet newReplicas, boolean lastLeaderLives) {
        if (!newSettings.equals(role.settings())) {
            compactionFailure = null;
        }
        journal.setConfig(newSettings.journal());
        role.follow(newSettings, newReplicas, lastLeaderLives);
    }

    /**
     * Appends a batch or a marker. Its sender is informed once the topic's delivery mode is satisfied, or at once if it
     * is rejected.
     *
     * <p>A transactional batch is appended only if the transaction's coordinator has confirmed it, and if the transaction
     * has not ended since then; otherwise its outcome is INVALID_TXN_STATE. It comes from the coordinator's loop in the
     * same way as markers do ({@link LoopCycle#execute}), so that the batches of a transaction arrive before its marker.
     */
    public void append(Append append) {
        role.beforeAppend();
        appends.append(append);
    }

    // ---- replication

    /** What this replica does: leads, follows, or cuts its log. */
    public ReplicaMachine replica() {
        return replica;
    }

    /** The broker is about to stop, see {@link PartitionWriter#beginHandOver}. */
    public void beginHandOver() {
        if (isReplicated()) {
            writer.beginHandOver();
        }
    }

    /** Whether any other in-sync replica has everything that was acknowledged here, or another one leads already. */
    public boolean canHandOver() {
        return writer.isReplicated();
    }

    /** Whether this broker leads the partition. */
    public boolean leads() {
        return replica.isLeader();
    }

    /** The replica as it is now. */
    public ReplicaStatus status() {
        return new ReplicaStatus(
                topicId,
                name,
                replica.isLeader(),
                replica.leaderEpoch(),
                role.partitionEpoch(),
                journal.startOffset(),
                journal.writtenOffset(),
                replica.highWatermark(),
                replica.hasEnoughReplicas(),
                isWritable());
    }

    /** Whether a leader knows what consumers may have seen before its epoch. */
    public boolean isEndKnown() {
        return replica.hasReachedStart();
    }

    /** Whether the partition has other replicas. */
    public boolean isReplicated() {
        return role.isReplicated();
    }

    /** What this replica does with the others. */
    public PartitionReplication replication() {
        if (replication == null) {
            replication = new PartitionReplication(role, parts);
        }
        return replication;
    }

    /**
     * Reads whole batches from {@code offset} on.
     *
     * @param currentLeaderEpoch the leader epoch that the reader knows; -1 if the request does not contain it
     * @param lastFetchedEpoch epoch of the last record that the reader has; -1 if the request does not contain it
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     * @param readCommitted whether to read only up to the last stable offset
     */
    public PartitionRead read(
            long offset,
            int currentLeaderEpoch,
            int lastFetchedEpoch,
            int maxSizeBytes,
            boolean atLeastOneBatch,
            boolean readCommitted) {
        ErrorCode epochError = role.checkLeaderEpoch(currentLeaderEpoch);
        return epochError == ErrorCode.NONE
                ? readable.read(offset, lastFetchedEpoch, maxSizeBytes, atLeastOneBatch, readCommitted)
                : PartitionRead.failed(epochError);
    }

    /** Compares the leader epoch that a client knows with the current one (KIP-320); -1 always matches. */
    public ErrorCode checkLeaderEpoch(int currentLeaderEpoch) {
        return role.checkLeaderEpoch(currentLeaderEpoch);
    }

    /** The end of the partition, before anything is appended to it. */
    public RecoveredEnd recoveredEnd() {
        return new RecoveredEnd(journal, replica.highWatermark(), replica.leaderEpoch());
    }

    /**
     * Deletes all records before {@code offset}. They cannot be read any more when this returns. {@code done} is called
     * on the loop once no crash and no election of an in-sync replica can bring them back.
     *
     * @param offset the new first offset; -1 for the high watermark
     * @param timeoutMs how long to wait for other replicas
     * @param done receives {@link ErrorCode#NONE}, POLICY_VIOLATION for a topic that is only compacted, or, if the records
     *     are deleted but can come back, KAFKA_STORAGE_ERROR, REQUEST_TIMED_OUT or NOT_LEADER_OR_FOLLOWER
     */
    public void deleteRecordsBefore(long offset, long timeoutMs, Consumer<ErrorCode> done) {
        if (role.availability() != ErrorCode.NONE) {
            done.accept(role.availability());
            return;
        }
        if (!role.settings().deletes()) {
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
        if (!blockingWork.start(() -> {
            ErrorCode outcome = keepStart();
            cycle.execute(() -> {
                if (outcome == ErrorCode.NONE) {
                    replication().whenDeletedBefore(target, timeoutMs, done);
                } else {
                    done.accept(outcome);
                }
            });
        })) {
            done.accept(ErrorCode.KAFKA_STORAGE_ERROR);
        }
    }

    /** Any thread; blocks. */
    private ErrorCode keepStart() {
        try {
            journal.checkpoint();
            return ErrorCode.NONE;
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            // Also after an error, such as too little direct memory: the request waits for the outcome.
            log.error(
                    "cannot store the start offset of the log: partition={} reason=\"{}\"", name, failure.getMessage());
            return ErrorCode.KAFKA_STORAGE_ERROR;
        }
    }

    /**
     * Makes everything written up to now durable, in any delivery mode.
     *
     * @param done called on the loop with NONE once everything is on the disk, otherwise with KAFKA_STORAGE_ERROR or
     *     NOT_LEADER_OR_FOLLOWER
     */
    public void flush(Consumer<ErrorCode> done) {
        if (role.availability() != ErrorCode.NONE) {
            done.accept(role.availability());
        } else {
            durability.flush(done);
        }
    }

    /**
     * Maintains the journal: starts and deletes segments by their age, and checks the producers.
     *
     * @param retentionNowMs the time for retention ({@code RetentionClock}), in milliseconds since 1970 UTC
     * @param transactionMaxTimeoutMs how long a transaction may be open, in milliseconds
     * @return whether the oldest records have expired
     */
    public boolean maintain(long nowMs, long retentionNowMs, long transactionMaxTimeoutMs) {
        if (role.isOffline()) {
            return false;
        }
        producers.countHanging(transactionMaxTimeoutMs, nowMs, readable.lastStableOffset());
        writer.writeStaged();
        boolean expired = journal.applyRetention(retentionNowMs, readable.highWatermark()) > 0;
        if (expired) {
            readable.wakeAll();
        }
        journal.releaseIdleFiles();
        producers.snapshotIfRolled();
        return expired;
    }

    /** Whether the partition is in this data directory. */
    public boolean isIn(Path dataDirectory) {
        return dataDirectory.equals(journal.directory().getParent());
    }

    /**
     * Stops using the partition's files. Rejects the waiting appends, wakes the readers, and responds with
     * KAFKA_STORAGE_ERROR from now on. The files do not change.
     */
    public void takeOffline(IOException reason) {
        role.takeOffline();
        journal.fence(reason);
        writer.takeOffline(reason);
        readable.wakeAll();
    }

    /**
     * Leaves the shard: rejects the waiting appends and wakes the readers. The journal stays open for its next owner.
     */
    public void close() {
        // The state of the producers includes all staged batches, so these must be written first.
        writer.writeStaged();
        if (journal.isDirty()) {
            log.error(
                    "records acknowledged from memory cannot be written and are lost: partition={} fromOffset={}",
                    name,
                    journal.writtenOffset());
            producers.truncateTo(journal.writtenOffset());
            lostAcknowledged = true;
        }
        producers.close();
        role.close();
        writer.close();
        readable.close();
    }

    /**
     * Flushes and closes the journal, after {@link #close}. Any thread; blocks.
     *
     * @return false if acknowledged records may be lost, or the state of producers
     */
    public boolean closeJournal() {
        // Without the snapshot, the next start would not know which producers may continue behind a loss.
        boolean kept = role.isOffline() || producers.snapshotAtClose();
        try {
            journal.close();
            return kept && !lostAcknowledged;
        } catch (IOException failure) {
            log.error("cannot close the journal: partition={}", name, failure);
            return false;
        }
    }

    /** Deletes the journal, after {@link #close}. Any thread; blocks. */
    public void deleteJournal() {
        try {
            if (role.isOffline()) {
                journal.close();
            } else {
                journal.delete();
            }
        } catch (IOException failure) {
            log.error("cannot delete the journal: partition={}", name, failure);
        }
        durability.forget();
    }

    /**
     * Shared by the partitions of one loop.
     *
     * @param cycle of that loop
     * @param appends for their appends
     * @param flusher fsyncs their journals
     * @param walBuffers collect their writes for the write-ahead files
     * @param blockingWork starts work that waits for the disk
     * @param producerMemory charged with the producers of all partitions
     * @param throttles limit the rates of replication of this broker
     * @param nodeId the id of this broker
     */
    public record PartitionResources(
            LoopCycle cycle,
            AppendResources appends,
            Flusher flusher,
            WalLoopBuffers walBuffers,
            BlockingWork blockingWork,
            MemoryAccount producerMemory,
            ReplicationThrottle.Directions throttles,
            int nodeId) {}
}
