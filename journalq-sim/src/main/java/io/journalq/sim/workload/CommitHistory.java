package io.journalq.sim.workload;

import java.util.ArrayList;
import java.util.List;

/** The commits of one group for one partition, by any of its members, and their responses. */
public final class CommitHistory {
    private final String group;
    private final PartitionHistory partition;
    private final List<Commit> commits = new ArrayList<>();

    /** One commit. */
    public static final class Commit {
        private final long offset;
        private final long sentAtMs;
        private long respondedAtMs = -1;
        private long acknowledgedAtMs = -1;
        private boolean transactional;
        private boolean refused;

        private Commit(long offset, long sentAtMs) {
            this.offset = offset;
            this.sentAtMs = sentAtMs;
        }

        @Override
        public String toString() {
            String outcome =
                    refused ? " (refused)" : acknowledgedAtMs < 0 ? " (no response)" : " at " + acknowledgedAtMs;
            return offset + outcome;
        }

        public long offset() {
            return offset;
        }

        /** When the commit was acknowledged; -1 if it was not. */
        public long acknowledgedAtMs() {
            return acknowledgedAtMs;
        }

        /** Whether the commit took effect with the end of a transaction, which may be after the acknowledgement. */
        public boolean isTransactional() {
            return transactional;
        }

        /** Whether the response said that nothing was committed. */
        public boolean isRefused() {
            return refused;
        }

        /** Whether the commit was sent after the response to {@code other}. */
        public boolean follows(Commit other) {
            return other.respondedAtMs >= 0 && sentAtMs > other.respondedAtMs;
        }

        long sentAtMs() {
            return sentAtMs;
        }

        void acknowledge(long nowMs) {
            respondedAtMs = nowMs;
            acknowledgedAtMs = nowMs;
        }

        /** @param nothingDone whether the response guarantees that nothing was committed */
        void fail(boolean nothingDone, long nowMs) {
            respondedAtMs = nowMs;
            refused = nothingDone;
        }

        /** The commit may be lost from now on. */
        public void release() {
            acknowledgedAtMs = -1;
        }

        private void end(long atMs) {
            release();
            respondedAtMs = respondedAtMs < 0 ? atMs : respondedAtMs;
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

    /** All commits that may be in effect: what the last restart showed, and later ones. */
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
     * Begins a new history with the offset that a restart showed; -1 if there is no commit. The earlier commits are
     * kept. An earlier commit may come back if this one is lost, because it may have taken effect after the start with
     * the end of a transaction.
     */
    public void reset(long offset, long nowMs) {
        commits.forEach(commit -> commit.end(nowMs - 1));
        if (offset >= 0) {
            add(offset, nowMs).acknowledge(nowMs);
        }
    }
}
