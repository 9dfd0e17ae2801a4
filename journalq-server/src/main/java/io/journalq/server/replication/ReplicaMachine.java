package io.journalq.server.replication;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ErrorCode;

/**
 * One replica of a partition: the end of its log, its high watermark and its leader epoch.
 *
 * <p>Records below the high watermark are as safe as the topic's delivery mode demands, on every in-sync replica.
 * Consumers see them, and they are final: the transactions that ended below it cannot become open again. It never moves
 * back, and it rests while fewer replicas are in sync than required. As long as this is the only replica, it advances as
 * soon as the records are safe here.
 *
 * <p>Pure and single-threaded.
 */
public final class ReplicaMachine {
    private static final int NO_EPOCH = -1;

    private final InSyncSet inSync = new InSyncSet();
    private long endOffset;
    /** Everything before this is as safe here as the topic's delivery mode demands. */
    private long safeOffset;

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
        this.safeOffset = this.highWatermark;
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
        safeOffset = Math.max(safeOffset, offset);
        return advance();
    }

    /**
     * The in-sync replicas have changed.
     *
     * @param others broker ids of the in-sync replicas, without this one
     * @param requiredSize number of in-sync replicas, including this one, without which the high watermark rests
     * @return whether the high watermark has advanced
     */
    public boolean onInSyncReplicas(int[] others, int requiredSize) {
        inSync.follow(others, requiredSize);
        return advance();
    }

    /**
     * Another replica fetches from {@code offset} on, and thereby acknowledges everything before it. Ignored unless the
     * replica is in sync, and if the offset is not in this log.
     *
     * @return whether the high watermark has advanced
     */
    public boolean onFetch(int replica, long offset) {
        return offset <= endOffset && inSync.onFetch(replica, offset) && advance();
    }

    private boolean advance() {
        long safe = inSync.isLargeEnough() ? inSync.safeOffset(safeOffset) : highWatermark;
        if (safe <= highWatermark) {
            return false;
        }
        highWatermark = safe;
        return true;
    }

    /** Whether records that are safe here need no other replica. */
    public boolean isSufficient() {
        return inSync.isEmpty() && inSync.isLargeEnough();
    }

    /** Whether enough replicas are in sync for an append that waits for all of them. */
    public boolean hasEnoughReplicas() {
        return inSync.isLargeEnough();
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
