package io.journalq.sim.workload;

import java.util.ArrayList;
import java.util.List;

/** What one group committed for one partition, whoever of its members did, and what they were told. */
public final class CommitHistory {
    private final String group;
    private final PartitionHistory partition;
    private final List<Commit> commits = new ArrayList<>();

    /** One commit. */
    public static final class Commit {
        private final long offset;
        private final long askedAtMs;
        private long answeredAtMs = -1;
        private long acknowledgedAtMs = -1;
        private boolean transactional;
        private boolean refused;

        private Commit(long offset, long askedAtMs) {
            this.offset = offset;
            this.askedAtMs = askedAtMs;
        }

        @Override
        public String toString() {
            String outcome = refused ? " (refused)" : acknowledgedAtMs < 0 ? " (no answer)" : " at " + acknowledgedAtMs;
            return offset + outcome;
        }

        public long offset() {
            return offset;
        }

        /** When the group was told that it is safe; -1 when it was not. */
        public long acknowledgedAtMs() {
            return acknowledgedAtMs;
        }

        /** Whether it came into force with the end of a transaction, some time after the acknowledgement. */
        public boolean isTransactional() {
            return transactional;
        }

        /** Whether the group was told that nothing was committed. */
        public boolean isRefused() {
            return refused;
        }

        /** Whether it was asked for when {@code other} had been answered. */
        public boolean follows(Commit other) {
            return other.answeredAtMs >= 0 && askedAtMs > other.answeredAtMs;
        }

        long askedAtMs() {
            return askedAtMs;
        }

        void acknowledge(long nowMs) {
            answeredAtMs = nowMs;
            acknowledgedAtMs = nowMs;
        }

        /** @param nothingDone whether it is sure that nothing was committed */
        void fail(boolean nothingDone, long nowMs) {
            answeredAtMs = nowMs;
            refused = nothingDone;
        }

        /** From now on nothing is asked of it. */
        public void disclaim() {
            acknowledgedAtMs = -1;
        }

        private void end(long atMs) {
            disclaim();
            answeredAtMs = answeredAtMs < 0 ? atMs : answeredAtMs;
        }

        Commit inTransaction() {
            transactional = true;
            return this;
        }
    }

    CommitHistory(String group, PartitionHistory partition) {
        this.group = group;
        this.partition = partition;
    }

    public String group() {
        return group;
    }

    public PartitionHistory partition() {
        return partition;
    }

    /** Every commit that may count: what the last restart showed, and what was tried since. */
    public List<Commit> commits() {
        return commits;
    }

    boolean isAnyAcknowledged() {
        return commits.stream().anyMatch(commit -> commit.acknowledgedAtMs() >= 0);
    }

    Commit add(long offset, long nowMs) {
        Commit commit = new Commit(offset, nowMs);
        commits.add(commit);
        return commit;
    }

    /**
     * Begins anew with what a restart showed; -1 when there is no commit. What was committed before comes back when that
     * is lost in turn: it may have come into force after the start, with the end of a transaction.
     */
    public void reset(long offset, long nowMs) {
        commits.forEach(commit -> commit.end(nowMs - 1));
        if (offset >= 0) {
            add(offset, nowMs).acknowledge(nowMs);
        }
    }
}
