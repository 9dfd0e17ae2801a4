package io.journalq.server.replication;

/** Where the log of a follower differs from its leader's (KIP-101, KIP-279). Stateless. */
public final class Divergence {
    private Divergence() {}

    /** The ends of leader epochs in a log. */
    @FunctionalInterface
    public interface EpochEnds {
        /** The offset behind the last record of the largest epoch that is at most {@code epoch}; -1 if there is none. */
        long endOf(int epoch);
    }

    /**
     * The offset to which a follower cuts its log before it fetches again. It may have to cut more after that.
     *
     * @param leaderEpoch the largest epoch of the leader's log that is not newer than the follower's last one; -1 if
     *     there is none
     * @param leaderEndOffset where that epoch ends in the leader's log; -1 if there is none
     * @param own the epochs of the follower's log
     * @param startOffset the first offset of the follower's log
     */
    public static long cutOffset(int leaderEpoch, long leaderEndOffset, EpochEnds own, long startOffset) {
        if (leaderEpoch < 0 || leaderEndOffset < 0) {
            return startOffset;
        }
        long ownEnd = own.endOf(leaderEpoch);
        return Math.max(startOffset, ownEnd < 0 ? startOffset : Math.min(leaderEndOffset, ownEnd));
    }
}
