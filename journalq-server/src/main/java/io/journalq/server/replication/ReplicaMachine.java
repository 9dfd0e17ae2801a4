package io.journalq.server.replication;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * One replica of a partition: the end of its log, its high watermark and its role.
 *
 * <p>Records below the high watermark are as safe as the topic's delivery mode demands, on every in-sync replica.
 * Consumers see them, and they are final: the transactions that ended below it cannot become open again. It never moves
 * back, and it rests while fewer replicas are in sync than required. As long as this is the only replica, it advances as
 * soon as the records are safe here. A follower takes it from the leader.
 *
 * <p>Pure and single-threaded.
 */
public final class ReplicaMachine {
    private static final int NO_EPOCH = -1;
    private static final int NO_BROKER = -1;

    private long endOffset;
    /** Everything before this is as safe here as the topic's delivery mode demands. */
    private long safeOffset;

    private long highWatermark;
    private ReplicaRole role = new FollowerRole(FollowerRole.NO_LEADER, NO_EPOCH);
    /** The role while this replica leads, otherwise null. */
    private LeaderRole leading;

    /**
     * A replica as it was recovered, before it has a role. Recovery has made everything in its log durable.
     *
     * @param endOffset the end of its log
     * @param highWatermark the last one that was stored. It may be behind the end of the log if records were lost
     */
    public ReplicaMachine(long endOffset, long highWatermark) {
        this.endOffset = endOffset;
        this.highWatermark = Math.min(highWatermark, endOffset);
        this.safeOffset = endOffset;
    }

    // ---- roles

    /** The current role. */
    public ReplicaRole role() {
        return role;
    }

    public boolean isLeader() {
        return leading != null;
    }

    /**
     * Leads the partition. In a new epoch, what the other replicas have is unknown until they fetch.
     *
     * @param self broker id of this replica
     * @param requiredSize number of in-sync replicas, including this one, without which the high watermark rests
     * @return whether the high watermark has advanced
     */
    public boolean lead(int self, ReplicaSet set, int requiredSize, long nowMs) {
        Check.that(set.leaderEpoch() >= role.leaderEpoch(), "leader epochs do not decrease");
        if (leading == null || set.leaderEpoch() > leading.leaderEpoch()) {
            long owedOffset = isBehindAcknowledgements() ? leading.lateOffset() : 0;
            leading = new LeaderRole(self, set.leaderEpoch(), endOffset, owedOffset);
            role = leading;
        }
        leading.follow(set, requiredSize, nowMs);
        return advance();
    }

    /** Follows a leader. The same leader in the same epoch changes nothing. */
    public void follow(int leader, int leaderEpoch) {
        Check.that(leaderEpoch >= role.leaderEpoch(), "leader epochs do not decrease");
        boolean same = role instanceof FollowerRole following
                && following.leader() == leader
                && following.leaderEpoch() == leaderEpoch;
        if (!same) {
            role = new FollowerRole(leader, leaderEpoch);
            leading = null;
        }
    }

    /**
     * Begins to remove everything at and behind {@code offset}.
     *
     * @param isRecovered whether a newer leader epoch has begun without some records that consumers may have seen
     * @return false if consumers may have seen records that this would remove, so that they must not be removed
     */
    public boolean cut(long offset, boolean isRecovered) {
        Check.that(leading == null, "a leader removes nothing");
        if (offset < highWatermark && !isRecovered) {
            return false;
        }
        role = new CuttingRole(role.leaderEpoch(), offset);
        return true;
    }

    // ---- the log

    /** All records before {@code offset} are in the log. */
    public void onWritten(long offset) {
        Check.that(offset >= highWatermark, "the log keeps the records below the high watermark");
        endOffset = offset;
    }

    /**
     * All records before {@code offset} are as safe in this log as the topic's delivery mode demands.
     *
     * @return whether the high watermark has advanced
     */
    public boolean onSafe(long offset) {
        Check.that(offset <= endOffset, "only records that are in the log are safe");
        safeOffset = Math.max(safeOffset, offset);
        return advance();
    }

    private boolean advance() {
        long safe = highWatermark;
        if (leading != null) {
            InSyncSet inSync = leading.inSync();
            if (inSync.isLargeEnough()) {
                safe = inSync.safeOffset(safeOffset);
            }
        } else if (role instanceof FollowerRole following) {
            safe = following.highWatermark(endOffset);
        }
        if (safe <= highWatermark) {
            return false;
        }
        highWatermark = safe;
        return true;
    }

    // ---- as a follower

    /**
     * The leader has told its high watermark.
     *
     * @return whether the one of this replica has advanced
     */
    public boolean onLeaderHighWatermark(long offset) {
        if (role instanceof FollowerRole following) {
            following.onLeaderHighWatermark(offset);
        }
        return advance();
    }

    // ---- as a leader

    /** Whether a broker has a replica that may fetch from this leader. */
    public boolean isReplica(int brokerId) {
        return leading != null && leading.inSync().find(brokerId) != null;
    }

    /** Whether the metadata count the replica on a broker as in sync. */
    public boolean isInSync(int brokerId) {
        RemoteReplica other = leading == null ? null : leading.inSync().find(brokerId);
        return other != null && other.committed;
    }

    /**
     * The in-sync replica from which a consumer can read, on one of some brokers. Of several, it is the one with the
     * longest log.
     *
     * @param brokers whether a broker is one of them
     * @param offset the position of the consumer, which must be in the log of the replica
     * @return its broker; -1 if there is none, or this replica does not lead
     */
    public int readable(IntPredicate brokers, long offset) {
        RemoteReplica longest = null;
        for (RemoteReplica other :
                leading == null ? InSyncSet.NOBODY : leading.inSync().others()) {
            if (other.committed
                    && other.has(offset)
                    && (longest == null || other.fetchOffset() > longest.fetchOffset())
                    && brokers.test(other.brokerId)) {
                longest = other;
            }
        }
        return longest == null ? NO_BROKER : longest.brokerId;
    }

    /** Another replica has told the first offset of its log on its disk. */
    public void onStartOffset(int brokerId, long offset) {
        RemoteReplica other = leading == null ? null : leading.inSync().find(brokerId);
        if (other != null) {
            other.onStartOffset(offset);
        }
    }

    /** Whether the logs of all other in-sync replicas begin at {@code offset} or behind it. For the leader. */
    public boolean isDeletedBefore(long offset) {
        if (leading != null) {
            for (RemoteReplica other : leading.inSync().others()) {
                if (other.isCounted() && other.startOffset() < offset) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Another replica is about to fetch by {@code fetcher}. */
    public void onFetcher(int brokerId, Object fetcher) {
        RemoteReplica other = leading == null ? null : leading.inSync().find(brokerId);
        if (other != null) {
            other.onFetcher(fetcher);
        }
    }

    /**
     * Another replica fetches no more by {@code fetcher}. If it is not in sync, it does not join before it fetches again:
     * perhaps its disk has failed.
     */
    public void onForgotten(int brokerId, Object fetcher) {
        RemoteReplica other = leading == null ? null : leading.inSync().find(brokerId);
        if (other != null) {
            other.onForgotten(fetcher);
        }
    }

    /**
     * Another replica fetches from {@code offset} on, and thereby acknowledges everything before it. Its log does not
     * diverge from this one. Ignored if the replica is not assigned, or the offset is not in this log.
     *
     * @param brokerEpoch identifies the life of its broker
     * @return whether the high watermark has advanced
     */
    public boolean onFetch(int replica, long brokerEpoch, long offset, long nowMs) {
        RemoteReplica other =
                leading == null || offset > endOffset ? null : leading.inSync().find(replica);
        if (other == null) {
            return false;
        }
        other.onFetch(brokerEpoch, offset, endOffset, nowMs);
        return other.isCounted() && advance();
    }

    /** Whether {@link #propose} may have something to propose since {@code replica} has fetched. */
    public boolean isCandidate(int replica) {
        RemoteReplica other = leading == null ? null : leading.inSync().find(replica);
        return other != null && leading.isCandidate(other, highWatermark);
    }

    /**
     * The in-sync replicas to ask the controller for; null if nothing has changed, the last proposal is not settled, or
     * this replica does not lead.
     *
     * @param mayJoin whether the broker with an id may be in sync, as far as is known
     * @param maxLagMs how long an in-sync replica may be behind, in milliseconds
     */
    public IsrProposal propose(IntPredicate mayJoin, long maxLagMs, long nowMs) {
        return leading == null ? null : leading.propose(highWatermark, endOffset, mayJoin, maxLagMs, nowMs);
    }

    /**
     * The controller has refused a proposal, and never accepts it later.
     *
     * @return whether the high watermark has advanced
     */
    public boolean onRefused(IsrProposal proposal, long nowMs) {
        if (leading == null) {
            return false;
        }
        leading.onRefused(proposal, nowMs);
        return advance();
    }

    /**
     * Notes which records this leader has acknowledged too long ago for another in-sync replica not to have them, and
     * which replicas have everything. Called regularly.
     *
     * @param acknowledgedOffset records before this may have been acknowledged by this replica alone
     * @param maxAgeMs how long ago records were acknowledged, at least, that are too old, in milliseconds
     */
    public void observe(long acknowledgedOffset, long maxAgeMs, long nowMs) {
        if (leading != null) {
            leading.observe(acknowledgedOffset, endOffset, maxAgeMs, nowMs);
        }
    }

    /**
     * Whether an in-sync replica lacks records that this leader has acknowledged too long ago. Then nothing more may be
     * acknowledged by this leader alone.
     */
    public boolean isBehindAcknowledgements() {
        return leading != null && leading.isBehindAcknowledgements(endOffset);
    }

    /** Whether all in-sync replicas have everything before {@code offset}, or this replica does not lead. */
    public boolean hasReplicated(long offset) {
        return leading == null || leading.inSync().safeOffset(endOffset) >= offset;
    }

    /** Whether the outcome of a proposal is not known yet, and matters. */
    public boolean isOpen(IsrProposal proposal) {
        return leading != null && leading.isOpen(proposal);
    }

    /** Whether records that are safe here need no other replica. */
    public boolean isSufficient() {
        return leading != null
                && leading.inSync().isLeaderOnly()
                && leading.inSync().isLargeEnough();
    }

    /**
     * The other brokers that could lead after this one, as far as this leader knows: no other one can be elected
     * before this leader, or the controller, makes it one of them.
     */
    public List<Integer> successors() {
        return leading == null ? List.of() : leading.inSync().successors();
    }

    /** Whether enough replicas are in sync for an append that waits for all of them. */
    public boolean hasEnoughReplicas() {
        return leading != null && leading.inSync().isLargeEnough();
    }

    /** Whether everything before the current epoch is below the high watermark, so that its end is known to consumers. */
    public boolean hasReachedStart() {
        return leading != null && highWatermark >= leading.startOffset();
    }

    // ---- offsets

    /** The end of the log. Batches that are staged and not written are not part of it. */
    public long endOffset() {
        return endOffset;
    }

    /** Offset behind the last record that consumers may see. */
    public long highWatermark() {
        return highWatermark;
    }

    /** The epoch of the leader; -1 before this replica has a role. */
    public int leaderEpoch() {
        return role.leaderEpoch();
    }

    /** Compares the leader epoch that a client knows with the current one (KIP-320); -1 always matches. */
    public ErrorCode checkEpoch(int epoch) {
        if (epoch < 0 || epoch == leaderEpoch()) {
            return ErrorCode.NONE;
        }
        return epoch < leaderEpoch() ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH;
    }
}
