package io.journalq.server.replication;

/**
 * The replica appends what another broker has. Its high watermark follows the leader's, as far as its own log reaches.
 * Single-threaded.
 */
public final class FollowerRole implements ReplicaRole {
    /** There is no leader at the moment. */
    public static final int NO_LEADER = -1;

    private final int leader;
    private final int leaderEpoch;
    private long leaderHighWatermark;

    /** @param leader broker id of the leader, or {@link #NO_LEADER} */
    FollowerRole(int leader, int leaderEpoch) {
        this.leader = leader;
        this.leaderEpoch = leaderEpoch;
    }

    /** Broker id of the leader, or {@link #NO_LEADER}. */
    public int leader() {
        return leader;
    }

    @Override
    public int leaderEpoch() {
        return leaderEpoch;
    }

    void onLeaderHighWatermark(long offset) {
        leaderHighWatermark = Math.max(leaderHighWatermark, offset);
    }

    /** The high watermark of a log with this end, as far as the follower knows. */
    long highWatermark(long endOffset) {
        return Math.min(leaderHighWatermark, endOffset);
    }
}
