package io.journalq.server.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * The replica leads: it appends what producers send, and counts what the other replicas have. It proposes to the
 * controller which of them are in sync, one proposal at a time. Until the outcome of a proposal is known, the high
 * watermark waits for the replicas of both sets. Single-threaded.
 */
public final class LeaderRole implements ReplicaRole {
    private static final long RETRY_MS = 500;

    private final int self;
    private final int leaderEpoch;
    private final long startOffset;
    /** What this replica had acknowledged alone for too long when it led in the epoch before; 0 if nothing. */
    private final long owedOffset;

    private final InSyncSet inSync = new InSyncSet();
    private final LoneAcknowledgements alone = new LoneAcknowledgements();
    private int partitionEpoch = -1;
    /** The proposal whose outcome is not known; null if there is none. */
    private IsrProposal proposal;

    /** No proposal is made before this time, because the last one was refused. */
    private long nextProposalMs = Long.MIN_VALUE;

    /**
     * Begins an epoch.
     *
     * @param self broker id of this replica
     * @param startOffset the end of the log when the epoch begins
     * @param owedOffset the in-sync replicas must have everything before this, before more is acknowledged alone
     */
    LeaderRole(int self, int leaderEpoch, long startOffset, long owedOffset) {
        this.owedOffset = owedOffset;
        this.self = self;
        this.leaderEpoch = leaderEpoch;
        this.startOffset = startOffset;
    }

    @Override
    public int leaderEpoch() {
        return leaderEpoch;
    }

    /** The end of the log when the epoch began. */
    public long startOffset() {
        return startOffset;
    }

    InSyncSet inSync() {
        return inSync;
    }

    /** Takes the replicas of newer metadata, which settle a proposal. */
    void follow(ReplicaSet set, int requiredSize, long nowMs) {
        if (set.partitionEpoch() > partitionEpoch) {
            partitionEpoch = set.partitionEpoch();
            proposal = null;
            inSync.follow(self, set, requiredSize, nowMs);
        } else {
            inSync.setRequiredSize(requiredSize);
        }
    }

    /**
     * Proposes other in-sync replicas, if they have changed and the last proposal is settled. A replica joins when it has
     * everything that consumers may have seen, everything before this epoch, and everything that was acknowledged without
     * it too long ago. It leaves if it lacks such records. One that has been behind for too long leaves, and does not join.
     *
     * @param endOffset the end of the log
     * @param mayJoin whether the broker with an id may be in sync, as far as is known
     * @param maxLagMs how long an in-sync replica may be behind, in milliseconds
     * @return null if there is nothing to propose
     */
    IsrProposal propose(long highWatermark, long endOffset, IntPredicate mayJoin, long maxLagMs, long nowMs) {
        if (proposal != null || nowMs < nextProposalMs) {
            return null;
        }
        List<IsrProposal.Member> members = new ArrayList<>();
        members.add(new IsrProposal.Member(self, IsrProposal.UNKNOWN_EPOCH));
        boolean changed = false;
        long needed = neededToJoin(highWatermark);
        long late = alone.lateOffset();
        for (RemoteReplica other : inSync.others()) {
            boolean member = !other.isLagging(endOffset, nowMs, maxLagMs)
                    && (other.committed
                            ? late == 0 || other.fetchOffset() >= late
                            : has(other, needed) && mayJoin.test(other.brokerId));
            changed |= member != other.committed;
            if (member) {
                members.add(other.member());
            }
        }
        if (!changed) {
            return null;
        }
        proposal = new IsrProposal(leaderEpoch, partitionEpoch, members);
        inSync.propose(members);
        return proposal;
    }

    /** See {@link ReplicaMachine#observe}. */
    void observe(long acknowledgedOffset, long endOffset, long maxAgeMs, long nowMs) {
        alone.observe(acknowledgedOffset, maxAgeMs, nowMs);
        for (RemoteReplica other : inSync.others()) {
            other.observe(endOffset, nowMs);
        }
    }

    /** See {@link ReplicaMachine#isBehindAcknowledgements}. */
    boolean isBehindAcknowledgements(long endOffset) {
        long late = lateOffset();
        return late > 0 && inSync.safeOffset(endOffset) < late;
    }

    /** All in-sync replicas should have everything before this; 0 if nothing is that old. */
    long lateOffset() {
        return Math.max(owedOffset, alone.lateOffset());
    }

    /** Whether {@code replica} could join with what it has. A cheap check before {@link #propose}. */
    boolean isCandidate(RemoteReplica replica, long highWatermark) {
        return proposal == null && !replica.committed && has(replica, neededToJoin(highWatermark));
    }

    private static boolean has(RemoteReplica replica, long needed) {
        return replica.fetchOffset() >= needed && !replica.isForgotten();
    }

    /**
     * A replica in sync has everything before the result. While too few replicas are in sync, the high watermark rests, and
     * the leader may acknowledge records at and behind it by itself: if a replica joined without these, it could lead.
     */
    private long neededToJoin(long highWatermark) {
        return Math.max(Math.max(highWatermark, startOffset), alone.lateOffset());
    }

    /** The controller has refused a proposal, and never accepts it later. */
    void onRefused(IsrProposal refused, long nowMs) {
        if (refused.equals(proposal)) {
            proposal = null;
            nextProposalMs = nowMs + RETRY_MS;
            inSync.withdraw();
        }
    }

    /** Whether a proposal is the current one, and not settled. */
    boolean isOpen(IsrProposal asked) {
        return asked.equals(proposal);
    }
}
