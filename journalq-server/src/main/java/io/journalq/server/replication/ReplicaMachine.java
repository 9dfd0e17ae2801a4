package io.journalq.server.replication;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ErrorCode;

/**
 * One replica of a partition: the end of its log, its high watermark and its leader epoch.
 *
 * <p>Records below the high watermark are as safe as the topic's delivery mode demands. Consumers see them, and they are
 * final: the transactions that ended below it cannot become open again. It never moves back. This broker has the only
 * replica of each partition, so it advances as soon as the records are safe here.
 *
 * <p>Pure and single-threaded.
 */
public final class ReplicaMachine {
    private static final int NO_EPOCH = -1;

    private long endOffset;
    private long highWatermark;
    private int leaderEpoch = NO_EPOCH;

    /**
     * A replica as it was recovered, before it leads.
     *
     * @param endOffset the end of its log
     * @param highWatermark the last one that was stored. It may be behind the end of the log if records were lost
     */
    public ReplicaMachine(long endOffset, long highWatermark) {
        this.endOffset = endOffset;
        this.highWatermark = Math.min(highWatermark, endOffset);
    }

    /**
     * Leads the partition in an epoch.
     *
     * @return whether this is a new epoch, which begins at the end of the log
     */
    public boolean lead(int epoch) {
        Check.that(epoch >= leaderEpoch, "leader epochs do not decrease");
        boolean isNew = epoch > leaderEpoch;
        leaderEpoch = epoch;
        return isNew;
    }

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
        if (offset <= highWatermark) {
            return false;
        }
        highWatermark = offset;
        return true;
    }

    /** The end of the log. Batches that are staged and not written are not part of it. */
    public long endOffset() {
        return endOffset;
    }

    /** Offset behind the last record that consumers may see. */
    public long highWatermark() {
        return highWatermark;
    }

    /** The epoch in which the partition is led; -1 before it is led. */
    public int leaderEpoch() {
        return leaderEpoch;
    }

    /** Compares the leader epoch that a client knows with the current one (KIP-320); -1 always matches. */
    public ErrorCode checkEpoch(int epoch) {
        if (epoch < 0 || epoch == leaderEpoch) {
            return ErrorCode.NONE;
        }
        return epoch < leaderEpoch ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH;
    }
}
