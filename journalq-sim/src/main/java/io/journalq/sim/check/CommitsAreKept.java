package io.journalq.sim.check;

import io.journalq.sim.workload.CommitHistory;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.world.Violations;

/**
 * After a restart, a group has its last acknowledged committed offset or a later one, and no committed offset lies
 * beyond the end of its partition. If the internal topic has the mode {@code eventual}, a power loss may take the
 * newest commits.
 */
public final class CommitsAreKept {
    private final Violations violations;
    private final boolean consistent;
    private final long flushIntervalMs;

    /**
     * @param consistent whether the internal topic has the mode {@code consistent}; otherwise it has {@code eventual}
     */
    public CommitsAreKept(Violations violations, boolean consistent, long flushIntervalMs) {
        this.violations = violations;
        this.consistent = consistent;
        this.flushIntervalMs = flushIntervalMs;
    }

    /**
     * Checks what the broker reports to a group after a restart.
     *
     * @param committed the committed offset; -1 for none
     * @param endOffset the end of the partition
     */
    public void check(CommitHistory history, long committed, long endOffset, NothingAcknowledgedIsLost.End end) {
        String what = history.group() + " on " + history.partition() + ", end offset " + endOffset
                + ", has committed " + committed + " of " + history.commits()
                + (consistent ? "" : ", flush interval " + flushIntervalMs + " ms");
        if (committed > endOffset) {
            violations.report("NoCommitBeyondTheData", what + ", but the log ends at " + endOffset);
            return;
        }
        boolean none = committed < 0;
        for (CommitHistory.Commit commit : history.commits()) {
            boolean inForce = mayResultFrom(commit, committed, endOffset, history.partition());
            if (inForce && !commit.isRefused() && !isSuperseded(commit, history, end)) {
                return;
            }
            none &= commit.acknowledgedAtMs() < 0 || mayBeLost(commit, end);
        }
        // An older commit may replace the lost ones. It is then moved back to the end of the log as well.
        boolean olderOne = end.powerLost() && !consistent && isEndOfALoss(history.partition(), committed);
        if (!none && !end.harmed() && !olderOne) {
            violations.report("CommitsAreKept", what + "; " + end);
        }
    }

    /**
     * An open transaction holds back the response. Commits that the crash may have lost are not required at the next
     * check.
     */
    public void postpone(CommitHistory history, NothingAcknowledgedIsLost.End end) {
        for (CommitHistory.Commit commit : history.commits()) {
            if (mayBeLost(commit, end)) {
                commit.release();
            }
        }
    }

    private static boolean mayResultFrom(
            CommitHistory.Commit commit, long committed, long endOffset, PartitionHistory partition) {
        boolean movedBack = committed < commit.offset() && isEndOfALoss(partition, committed);
        return commit.offset() == committed || movedBack || Math.min(commit.offset(), endOffset) == committed;
    }

    /** Whether a later commit must have survived. */
    private boolean isSuperseded(
            CommitHistory.Commit commit, CommitHistory history, NothingAcknowledgedIsLost.End end) {
        return history.commits().stream()
                .anyMatch(other -> other.acknowledgedAtMs() >= 0 && other.follows(commit) && !mayBeLost(other, end));
    }

    /** Whether the log once ended at {@code offset}, or before it with only empty offsets in between. */
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
