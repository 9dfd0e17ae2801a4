package io.journalq.server.shard.partition;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.append.PartitionWriter;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.shard.read.ReadableLog;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a partition does with its other replicas: if it leads, it serves and counts their fetches; otherwise it appends
 * what its leader has sent, or cuts its log.
 *
 * <p>All methods run on the shard's loop unless they say otherwise.
 */
public final class PartitionReplication {
    private static final Logger log = LoggerFactory.getLogger(PartitionReplication.class);
    private static final int DELETION_CHECK_MIN_MS = 5;
    private static final int DELETION_CHECK_MAX_MS = 200;

    private final Partition partition;
    private final PartitionParts parts;
    private final Journal journal;
    private final ReplicaMachine replica;
    private final PartitionWriter writer;
    private final ReadableLog readable;
    /** Null until the partition is led here. */
    private Runnable candidateListener;
    /** The one that the leader has told last. */
    private long leaderHighWatermark = Long.MAX_VALUE;

    /** The partition as it is now. On the loop. */
    interface Partition {
        /** The error for a reader that knows a leader epoch, else NONE. */
        ErrorCode checkLeaderEpoch(int currentLeaderEpoch);

        /** The error for a consumer that reads from this follower and knows a leader epoch, else NONE. */
        ErrorCode checkFollowedEpoch(int currentLeaderEpoch);

        DeliveryMode deliveryMode();

        /** The last leader epoch that began without some acknowledged records; -1 if none did. */
        int recoveryEpoch();

        /** Whether the metadata count this replica as in sync. */
        boolean isInSync();

        /**
         * Whether this replica has led until another one was elected, and has records that this one may still fetch in the
         * epoch before.
         */
        boolean servesNextLeader(int replicaId, int leaderEpoch, long offset);

        /** Sets who is informed when this replica leads, after it had to wait for the last leader. */
        void setLeadingListener(Runnable listener);

        /** Sets whether the leader responds to this follower; returns whether that has changed. */
        boolean setLeaderResponds(boolean responds);

        boolean leaderResponds();

        /** The leader has refused a fetch in its epoch from the end of this log on. */
        void onLeaderRefusal();

        /** Whether this broker throttles what it sends as the leader. */
        boolean isThrottledLeader();

        /** Whether this broker throttles what it fetches as a follower. */
        boolean isThrottledFollower();
    }

    PartitionReplication(Partition partition, PartitionParts parts) {
        this.partition = partition;
        this.parts = parts;
        this.journal = parts.journal();
        this.replica = parts.replica();
        this.writer = parts.writer();
        this.readable = parts.readable();
    }

    /** Whether a follower acknowledges only what is on its disk. Otherwise, the page cache is sufficient. */
    public boolean acknowledgesSynced() {
        return partition.deliveryMode() == DeliveryMode.CONSISTENT;
    }

    /** Whether the metadata count this replica as in sync. They may be older than those of the leader. */
    public boolean isInSync() {
        return partition.isInSync();
    }

    /** Whether everything written is on the disk. */
    public boolean isSynced() {
        return parts.durability().isDurable();
    }

    /** Waits until everything written up to now is on the disk, see {@link PartitionDurability#flush}. */
    public void whenSynced(Consumer<ErrorCode> done) {
        parts.durability().flush(done);
    }

    /** Sets who is informed when another replica has fetched so much that it may join the in-sync replicas. */
    public void setCandidateListener(Runnable listener) {
        candidateListener = listener;
    }

    /** See {@link PartitionWriter#observeReplication}. */
    public boolean observe(long maxAgeMs, long nowMs) {
        return writer.observeReplication(maxAgeMs, nowMs);
    }

    /** Changes what the leader knows about the other replicas, see {@link ReadableLog#onReplicaChange}. */
    public void onReplicaChange(BooleanSupplier change) {
        writer.onReplicaChange(change);
    }

    /**
     * Another replica is about to fetch.
     *
     * @param startOffset the first offset of its log on its disk
     * @param fetcher identifies its fetch session
     */
    public void onFetcher(int replicaId, long startOffset, Object fetcher) {
        replica.onStartOffset(replicaId, startOffset);
        replica.onFetcher(replicaId, fetcher);
    }

    /**
     * Waits until the logs of all in-sync replicas begin at {@code offset} or behind it: then no election brings back what
     * was before. Looks again and again, less and less often, because this is rare, and takes a fetch of each replica.
     *
     * @param done receives NONE, REQUEST_TIMED_OUT, or NOT_LEADER_OR_FOLLOWER if another epoch has begun
     */
    void whenDeletedBefore(long offset, long timeoutMs, Consumer<ErrorCode> done) {
        awaitDeletion(offset, replica.leaderEpoch(), nowMs() + timeoutMs, DELETION_CHECK_MIN_MS, done);
    }

    private void awaitDeletion(long offset, int leaderEpoch, long deadlineMs, int delayMs, Consumer<ErrorCode> done) {
        if (partition.checkLeaderEpoch(leaderEpoch) != ErrorCode.NONE) {
            done.accept(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        } else if (replica.isDeletedBefore(offset)) {
            done.accept(ErrorCode.NONE);
        } else if (nowMs() >= deadlineMs) {
            done.accept(ErrorCode.REQUEST_TIMED_OUT);
        } else {
            int nextMs = Math.min(2 * delayMs, DELETION_CHECK_MAX_MS);
            parts.loop().schedule(() -> awaitDeletion(offset, leaderEpoch, deadlineMs, nextMs, done), delayMs);
        }
    }

    /** Another replica fetches no more in a session, see {@link ReplicaMachine#onForgotten}. */
    public void onForgotten(int replicaId, Object fetcher) {
        replica.onForgotten(replicaId, fetcher);
    }

    /** The replica from which a consumer can read, see {@link ReplicaMachine#readable}. */
    public int readableReplica(IntPredicate brokers, long offset) {
        return replica.readable(brokers, offset);
    }

    /**
     * Reads whole batches for another replica, up to the end of what is written. If the log of that replica does not
     * diverge, the fetch acknowledges everything before {@code offset}. After another replica was elected, that one can
     * read the rest.
     *
     * @param replicaId broker id of the other replica
     * @param brokerEpoch identifies the life of its broker
     * @param offset the end of its log
     * @param currentLeaderEpoch the leader epoch that it knows
     * @param lastFetchedEpoch epoch of its last batch; -1 if it has none
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     */
    public PartitionRead readAsReplica(
            int replicaId,
            long brokerEpoch,
            long offset,
            int currentLeaderEpoch,
            int lastFetchedEpoch,
            int maxSizeBytes,
            boolean atLeastOneBatch) {
        ErrorCode error = partition.checkLeaderEpoch(currentLeaderEpoch);
        if (error == ErrorCode.NONE && !replica.isReplica(replicaId)) {
            // The other broker may have newer metadata.
            error = ErrorCode.UNKNOWN_LEADER_EPOCH;
        }
        boolean servesNext =
                error != ErrorCode.NONE && partition.servesNextLeader(replicaId, currentLeaderEpoch, offset);
        if (error != ErrorCode.NONE && !servesNext) {
            return PartitionRead.failed(error);
        }
        EpochEndOffset diverging = readable.divergingEpoch(offset, lastFetchedEpoch);
        if (diverging != null) {
            return readable.diverging(diverging);
        }
        if (servesNext) {
            return readable.readWritten(offset, maxSizeBytes, atLeastOneBatch);
        }
        if (offset >= journal.startOffset()) {
            writer.onReplicaChange(() -> replica.onFetch(replicaId, brokerEpoch, offset, nowMs()));
            if (candidateListener != null && replica.isCandidate(replicaId)) {
                candidateListener.run();
            }
        }
        if (!partition.isThrottledLeader()) {
            return readable.readWritten(offset, maxSizeBytes, atLeastOneBatch);
        }
        ReplicationThrottle throttle = parts.throttles().leader();
        long nowNanos = parts.loop().nanoTime();
        if (!replica.isInSync(replicaId) && throttle.isExceeded(nowNanos)) {
            return readable.readWritten(offset, 0, false);
        }
        PartitionRead read = readable.readWritten(offset, maxSizeBytes, atLeastOneBatch);
        throttle.count(read.sizeBytes(), nowNanos);
        return read;
    }

    /**
     * Reads whole batches for a consumer from this in-sync follower, up to the high watermark that the leader has told
     * (KIP-392). Everything below it is final, so that the consumer never sees a record that an election takes back.
     *
     * @param offset the position of the consumer. If the log of this replica ends before it, the result is
     *     OFFSET_NOT_AVAILABLE, because the leader may have more
     * @param currentLeaderEpoch the leader epoch that the consumer knows; -1 if the request does not contain it
     * @param lastFetchedEpoch epoch of the last record that it has; -1 if the request does not contain it
     * @param maxSizeBytes size at which to stop
     * @param atLeastOneBatch whether the first batch may exceed that size
     * @param readCommitted whether to read only up to the last stable offset
     */
    public PartitionRead readAsFollower(
            long offset,
            int currentLeaderEpoch,
            int lastFetchedEpoch,
            int maxSizeBytes,
            boolean atLeastOneBatch,
            boolean readCommitted) {
        ErrorCode error = partition.checkFollowedEpoch(currentLeaderEpoch);
        if (error == ErrorCode.NONE && !partition.leaderResponds()) {
            // Nobody would tell this follower that it is no longer in sync.
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER;
        }
        if (error == ErrorCode.NONE && offset > journal.endOffset()) {
            error = ErrorCode.OFFSET_NOT_AVAILABLE;
        }
        return error == ErrorCode.NONE
                ? readable.read(offset, lastFetchedEpoch, maxSizeBytes, atLeastOneBatch, readCommitted)
                : PartitionRead.failed(error);
    }

    /** Sets who is informed when this replica leads, after it had to wait for the last leader. */
    public void setLeadingListener(Runnable listener) {
        partition.setLeadingListener(listener);
    }

    /** The leader has refused a fetch in its epoch from the end of this log on: it leads no more, or has other metadata. */
    public void onLeaderRefusal() {
        partition.onLeaderRefusal();
    }

    /** Sets whether the leader responds to this follower. While it does not, consumers are refused. */
    public void setLeaderResponds(boolean responds) {
        if (partition.setLeaderResponds(responds)) {
            readable.wakeAll();
        }
    }

    /**
     * Whether this follower has to wait with its next fetch, because of a throttle. Replicas that are in sync or have
     * everything do not wait.
     */
    public boolean isHeldBack() {
        return partition.isThrottledFollower()
                && !partition.isInSync()
                && journal.endOffset() < leaderHighWatermark
                && parts.throttles().follower().isExceeded(parts.loop().nanoTime());
    }

    /**
     * Appends batches that the leader has sent. They are written at the end of this cycle.
     *
     * @param run whole batches back to back between its reader and writer index
     * @throws InvalidBatchException if a batch is damaged or does not continue the log; nothing is appended
     */
    public void appendFetched(ByteBuf run) {
        journal.appendRun(run, replica.leaderEpoch());
        parts.producers().onStagedRun(run, parts.clock().millis());
        if (partition.isThrottledFollower()) {
            parts.throttles().follower().count(run.readableBytes(), parts.loop().nanoTime());
        }
        writer.writeFetched(run.readableBytes());
    }

    /**
     * The leader has told its offsets.
     *
     * @param highWatermark the leader's, which is behind the end of this log if more batches follow
     * @param startOffset the first offset of the leader's log
     */
    public void onLeaderOffsets(long highWatermark, long startOffset) {
        leaderHighWatermark = highWatermark;
        readable.onReplicaChange(() -> replica.onLeaderHighWatermark(highWatermark));
        long target = Math.min(startOffset, journal.writtenOffset());
        if (target > journal.startOffset()) {
            writer.writeStaged();
            journal.deleteRecordsBefore(target);
        }
    }

    /**
     * Begins to remove everything at and behind {@code offset}.
     *
     * @return false if consumers may have seen records that this would remove, so that they must not be removed
     */
    public boolean beginCut(long offset) {
        return replica.cut(offset, journal.epochs().latest() < partition.recoveryEpoch());
    }

    /** Runs {@code work} on the loop as soon as the journal can be cut, after {@link PartitionHost#close}. */
    public void whenCuttable(Runnable work) {
        parts.durability().whenSettled(work);
    }

    /**
     * Removes everything at and behind {@code offset}, or everything if the log ends before it, and closes the journal,
     * after {@link #whenCuttable}. The log then ends at {@code offset} or before it. If it begins behind {@code offset}, it
     * is deleted. Any thread; blocks.
     *
     * @return false if that was not possible, such as on a full disk
     */
    public boolean cutJournal(long offset) {
        try (Journal cut = journal) {
            // Batches that were acknowledged from memory and could not be written.
            cut.dropStaged();
            if (offset < cut.startOffset()) {
                cut.forgetWrites();
                cut.delete();
                parts.durability().forget();
            } else if (offset > cut.writtenOffset()) {
                cut.resetTo(offset);
            } else {
                cut.truncateTo(offset);
            }
            return true;
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            // Also after an error, such as too little direct memory: otherwise, nobody would open the partition again.
            log.error("cannot cut the log: partition={} offset={}", parts.name(), offset, failure);
            return false;
        }
    }

    /** The time of the loop. */
    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(parts.loop().nanoTime());
    }
}
