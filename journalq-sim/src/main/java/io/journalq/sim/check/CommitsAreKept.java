package io.journalq.sim.check;

import io.journalq.sim.workload.CommitHistory;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.world.Violations;

/**
 * A committed position that was acknowledged is there after a restart, or one that was committed later; and no position
 * lies behind the end of its partition. Where commits are kept in mode {@code eventual}, power loss may take the latest.
 */
public final class CommitsAreKept {
    private final Violations violations;
    private final boolean consistent;
    private final long flushIntervalMs;

    /** @param consistent whether the internal topic's mode is that one, else it is eventual */
    public CommitsAreKept(Violations violations, boolean consistent, long flushIntervalMs) {
        this.violations = violations;
        this.consistent = consistent;
        this.flushIntervalMs = flushIntervalMs;
    }

    /**
     * Judges what a group is told after a restart.
     *
     * @param committed -1 for nothing
     * @param endOffset where the partition ends now
     */
    public void check(CommitHistory history, long committed, long endOffset, NothingAcknowledgedIsLost.End end) {
        String what = history.group() + " on " + history.partition() + ", which ends at " + endOffset
                + ", has committed " + committed + " of " + history.commits()
                + (consistent ? "" : ", flushed within " + flushIntervalMs + " ms");
        if (committed > endOffset) {
            violations.report("NoCommitBeyondTheData", what + ", but the log ends at " + endOffset);
            return;
        }
        boolean none = committed < 0;
        for (CommitHistory.Commit commit : history.commits()) {
            boolean inForce = mayStandFor(commit, committed, endOffset, history.partition());
            if (inForce && !commit.isRefused() && !isSuperseded(commit, history, end)) {
                return;
            }
            none &= commit.acknowledgedAtMs() < 0 || mayBeLost(commit, end);
        }
        // An older commit may come back in place of the lost ones, and is then moved back as these were.
        boolean olderOne = end.powerLost() && !consistent && isEndOfALoss(history.partition(), committed);
        if (!none && !end.harmed() && !olderOne) {
            violations.report("CommitsAreKept", what + "; " + end);
        }
    }

    /** A transaction has yet to decide what the group has committed: what this life's end may have lost is not asked for later. */
    public void postpone(CommitHistory history, NothingAcknowledgedIsLost.End end) {
        for (CommitHistory.Commit commit : history.commits()) {
            if (mayBeLost(commit, end)) {
                commit.disclaim();
            }
        }
    }

    private static boolean mayStandFor(
            CommitHistory.Commit commit, long committed, long endOffset, PartitionHistory partition) {
        boolean movedBack = committed < commit.offset() && isEndOfALoss(partition, committed);
        return commit.offset() == committed || movedBack || Math.min(commit.offset(), endOffset) == committed;
    }

    /** Whether another one must have come later, and must be there. */
    private boolean isSuperseded(
            CommitHistory.Commit commit, CommitHistory history, NothingAcknowledgedIsLost.End end) {
        return history.commits().stream()
                .anyMatch(other -> other.acknowledgedAtMs() >= 0 && other.follows(commit) && !mayBeLost(other, end));
    }

    /** Whether a log once ended here, or did so but for offsets that hold nothing. */
    private static boolean isEndOfALoss(PartitionHistory partition, long offset) {
        boolean nothingBehind =
                offset >= 0 && partition.seen().tailMap(offset, true).isEmpty();
        return nothingBehind
                || partition.cuts().stream()
                        .anyMatch(cut -> cut <= offset
                                && partition.seen().subMap(cut, offset).isEmpty());
    }

    private boolean mayBeLost(CommitHistory.Commit commit, NothingAcknowledgedIsLost.End end) {
        boolean withinBound =
                commit.isTransactional() || commit.acknowledgedAtMs() + flushIntervalMs + end.slackMs() >= end.atMs();
        return end.harmed() || (end.powerLost() && !consistent && withinBound);
    }
}
