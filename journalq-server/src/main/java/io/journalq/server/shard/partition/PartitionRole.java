package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.ReplicatedTopicRules;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.replication.FollowerRole;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.BatchAdmission;
import io.journalq.server.shard.append.BlockedAppends;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.append.PartitionProducers;
import io.journalq.server.shard.append.PartitionWriter;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.read.ReadableLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a replica leads or follows, by the newest metadata, and which requests it serves by that: none after it is
 * closed, or while its files cannot be used.
 *
 * <p>All methods run on the shard's loop unless they say otherwise.
 */
final class PartitionRole implements PartitionReplication.Partition {
    private static final Logger log = LoggerFactory.getLogger(PartitionRole.class);

    private static final int NO_EPOCH = -1;

    /** For so long after it has led, appends are for the leader that this replica was. They are refused at once. */
    private static final int JUST_LED_MS = 500;

    private final TopicPartition name;
    private final Loop loop;
    private final Journal journal;
    private final ReplicaMachine replica;
    private final PartitionProducers producers;
    private final ReadableLog readable;
    private final PartitionDurability durability;
    private final PartitionWriter writer;
    private final BatchAdmission admission;
    private final int nodeId;
    private final VerificationGuards guards;
    private final BlockedAppends appends;
    /** Null while no leadership is pending. */
    private PendingLeadership pending;

    /** Null unless appends wait because this replica may be about to lead. */
    private ExpectedLeadership expected;

    private Runnable leadingListener = () -> {};

    private boolean leaderResponds = true;

    /** The last epoch in which this replica led; -1 if there is none. */
    private int lastLedEpoch = NO_EPOCH;

    /** The end of the log when it ended. */
    private long lastLedEnd;

    /** When it ended. */
    private long lastLedMs;

    private PartitionSettings settings;
    private ReplicaSet replicas;
    private boolean throttledLeader;
    private boolean throttledFollower;
    private boolean offline;
    private volatile boolean closed;

    /**
     * Without a role, until it follows the metadata.
     *
     * @param nodeId the id of this broker
     * @param guards of the transactions whose markers are expected
     */
    PartitionRole(PartitionParts parts, int nodeId, VerificationGuards guards) {
        this.name = parts.name();
        this.loop = parts.loop();
        this.journal = parts.journal();
        this.replica = parts.replica();
        this.producers = parts.producers();
        this.readable = parts.readable();
        this.durability = parts.durability();
        this.writer = parts.writer();
        this.admission = parts.admission();
        this.nodeId = nodeId;
        this.guards = guards;
        this.appends = parts.appends();
        admission.refuseAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    /**
     * Applies new metadata. Replicas of an older leader epoch change nothing.
     *
     * @param lastLeaderLives whether the broker that led before a change of leader still runs, as far as is known
     */
    void follow(PartitionSettings newSettings, ReplicaSet newReplicas, boolean lastLeaderLives) {
        int lastEpoch = replicas == null ? NO_EPOCH : replicas.leaderEpoch();
        settings = newSettings;
        throttledLeader = newSettings.throttled().hasLeader(name.partition(), nodeId);
        throttledFollower = newSettings.throttled().hasFollower(name.partition(), nodeId);
        admission.follow(newSettings.append());
        int epoch = pending != null ? replicas.leaderEpoch() : replica.leaderEpoch();
        if (newReplicas.leaderEpoch() >= epoch) {
            boolean changed = !newReplicas.equals(replicas);
            boolean sameEpoch = replicas != null && newReplicas.leaderEpoch() == replicas.leaderEpoch();
            replicas = newReplicas;
            if (isInSync() && journal.isMissingRecords()) {
                journal.acceptEnd();
            }
            if (!sameEpoch) {
                cancelPending();
            }
            if (newReplicas.leader() != nodeId) {
                followLeader(changed);
            } else if (lastLeaderLives && hasMoreAtLastLeader()) {
                pending = new PendingLeadership(loop, appends, this::leadAfterLast);
            } else if (pending == null) {
                lead();
            }
        }
        durability.follow(deliveryMode() == DeliveryMode.CONSISTENT, newSettings.flushIntervalMs());
        if (replicas.leaderEpoch() != lastEpoch) {
            endExpected();
        }
    }

    /** An append arrives. It waits for a moment if this replica may be about to lead. */
    void beforeAppend() {
        if (expected == null && mayBeElected()) {
            expected = new ExpectedLeadership(loop, appends, this::endExpected);
        }
    }

    /** Whether the newest metadata may say that this replica leads, although it has not learned that yet. */
    private boolean mayBeElected() {
        return replica.role() instanceof FollowerRole following
                && following.leaderEpoch() == replicas.leaderEpoch()
                && (lastLedEpoch == NO_EPOCH || nowMs() - lastLedMs >= JUST_LED_MS)
                && isInSync()
                && !offline
                && !closed;
    }

    private void endExpected() {
        if (expected != null) {
            ExpectedLeadership ended = expected;
            expected = null;
            ended.end(pending == null);
        }
    }

    /**
     * Whether the last leader may have records that the followers fetch from it until all of them know that this replica
     * leads. Coordinators are not delayed for that.
     */
    private boolean hasMoreAtLastLeader() {
        return replica.role() instanceof FollowerRole following
                && following.leader() != FollowerRole.NO_LEADER
                && following.leader() != nodeId
                && following.leaderEpoch() == replicas.leaderEpoch() - 1
                && replicas.replicas().contains(following.leader())
                && replicas.recoveryEpoch() != replicas.leaderEpoch()
                && leaderResponds
                && pending == null
                && !offline
                && !closed
                && !InternalTopics.contains(name.topic());
    }

    /** The last leader has nothing more. */
    private void leadAfterLast() {
        pending = null;
        lead();
        leadingListener.run();
    }

    private void cancelPending() {
        if (pending != null) {
            pending.cancel();
            pending = null;
        }
    }

    private void lead() {
        boolean isNew = !replica.isLeader() || replicas.leaderEpoch() > replica.leaderEpoch();
        // A last leader that has left the replicas with this change leaves a partition with one replica.
        boolean followed =
                replica.role() instanceof FollowerRole following && following.leader() != FollowerRole.NO_LEADER;
        boolean othersLed = followed || isReplicated();
        if (isNew && othersLed) {
            // What is staged belongs to the epoch before.
            writer.writeStaged();
            if (!replica.isLeader() && deliveryMode() == DeliveryMode.PERFORMANCE) {
                // The last leader may have acknowledged more from its memory.
                producers.onPossibleLoss();
            }
        }
        writer.onReplicaChange(() -> replica.lead(nodeId, replicas, requiredInSync(), nowMs()));
        if (isNew) {
            journal.beginEpoch(replicas.leaderEpoch());
            if (othersLed) {
                producers.onLeading(guards.onMarker());
            }
            admission.refuseAll(offline ? ErrorCode.KAFKA_STORAGE_ERROR : ErrorCode.NONE);
        }
    }

    /** @param changed whether consumers may have to read from another replica */
    private void followLeader(boolean changed) {
        boolean led = replica.isLeader();
        if (led) {
            admission.refuseAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
            writer.endLeading();
            lastLedEpoch = replica.leaderEpoch();
            lastLedEnd = journal.endOffset();
            lastLedMs = nowMs();
        }
        replica.follow(replicas.leader(), replicas.leaderEpoch());
        if (led) {
            forgetEmptyEpoch();
        }
        if (changed) {
            readable.wakeAll();
        }
    }

    /** An epoch without records is not in the logs of others. */
    private void forgetEmptyEpoch() {
        if (journal.isDirty()) {
            return; // The disk rejects writes. The leader reports the divergence.
        }
        try {
            journal.truncateTo(journal.writtenOffset());
        } catch (IOException failure) {
            log.error("cannot forget the last leader epoch: partition={}", name, failure);
        }
    }

    /**
     * How many replicas must be in sync for an append that waits for all of them. Those that are being added do not raise
     * the number, so that producers need not wait until they have caught up.
     */
    private int requiredInSync() {
        return ReplicatedTopicRules.requiredInSync(
                settings.minInSyncReplicas(), replicas.establishedSize(), deliveryMode() == DeliveryMode.CONSISTENT);
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(loop.nanoTime());
    }

    /** The settings, as the newest metadata have them. */
    PartitionSettings settings() {
        return settings;
    }

    /** The epoch of the newest change of leader or in-sync replicas. */
    int partitionEpoch() {
        return replicas.partitionEpoch();
    }

    /** Whether the partition has other replicas. */
    boolean isReplicated() {
        return replicas.replicas().size() > 1;
    }

    /** The other brokers that have all its committed records, the leader first. */
    List<Integer> sources() {
        List<Integer> sources = new ArrayList<>();
        if (replicas.leader() >= 0) {
            sources.add(replicas.leader());
        }
        replicas.inSync().stream().filter(id -> !sources.contains(id)).forEach(sources::add);
        sources.removeIf(id -> id == nodeId);
        return sources;
    }

    /** The partition's files cannot be used any more. Rejects the waiting appends. */
    void takeOffline() {
        offline = true;
        admission.refuseAll(availability());
        cancelPending();
        endExpected();
    }

    /** Whether the partition's files cannot be used any more. */
    boolean isOffline() {
        return offline;
    }

    /** The partition leaves the shard. Rejects the waiting appends. */
    void close() {
        closed = true;
        admission.refuseAll(availability());
        cancelPending();
        endExpected();
    }

    /** Whether the partition has left the shard. Any thread. */
    boolean isClosed() {
        return closed;
    }

    /** The error for a request that the partition cannot serve now, else NONE. */
    ErrorCode availability() {
        if (offline && !closed) {
            return ErrorCode.KAFKA_STORAGE_ERROR;
        }
        return closed || !replica.isLeader() ? ErrorCode.NOT_LEADER_OR_FOLLOWER : ErrorCode.NONE;
    }

    @Override
    public ErrorCode checkLeaderEpoch(int currentLeaderEpoch) {
        ErrorCode error = availability();
        return error == ErrorCode.NONE ? replica.checkEpoch(currentLeaderEpoch) : error;
    }

    @Override
    public ErrorCode checkFollowedEpoch(int currentLeaderEpoch) {
        boolean follows = !closed && !offline && replica.role() instanceof FollowerRole && isInSync();
        return follows ? replica.checkEpoch(currentLeaderEpoch) : checkLeaderEpoch(currentLeaderEpoch);
    }

    @Override
    public boolean servesNextLeader(int replicaId, int leaderEpoch, long offset) {
        return !closed
                && !offline
                && leaderEpoch == lastLedEpoch
                && replica.role() instanceof FollowerRole following
                && following.leader() == replicaId
                && following.leaderEpoch() == lastLedEpoch + 1
                && journal.endOffset() == lastLedEnd
                && offset < journal.writtenOffset();
    }

    @Override
    public void setLeadingListener(Runnable listener) {
        leadingListener = listener;
    }

    @Override
    public boolean setLeaderResponds(boolean responds) {
        boolean changed = leaderResponds != responds;
        leaderResponds = responds;
        if (!responds) {
            onLeaderRefusal();
        }
        return changed;
    }

    @Override
    public boolean leaderResponds() {
        return leaderResponds;
    }

    @Override
    public void onLeaderRefusal() {
        if (pending != null) {
            pending.endSoon();
        }
    }

    @Override
    public DeliveryMode deliveryMode() {
        return settings.append().deliveryMode();
    }

    @Override
    public int recoveryEpoch() {
        return replicas.recoveryEpoch();
    }

    @Override
    public boolean isInSync() {
        return replicas.inSync().contains(nodeId);
    }

    @Override
    public boolean isThrottledLeader() {
        return throttledLeader;
    }

    @Override
    public boolean isThrottledFollower() {
        return throttledFollower;
    }
}
