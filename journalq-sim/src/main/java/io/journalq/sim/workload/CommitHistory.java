package io.journalq.sim.workload;

import java.util.ArrayList;
import java.util.List;

/** What one group committed for one partition, and what it was told. */
public final class CommitHistory {
    private final String group;
    private final PartitionHistory partition;
    private final List<Commit> commits = new ArrayList<>();

    /** One commit. */
    public static final class Commit {
        private final long offset;
        private long acknowledgedAtMs = -1;

        Commit(long offset) {
            this.offset = offset;
        }

        @Override
        public String toString() {
            return offset + (acknowledgedAtMs < 0 ? " (no answer)" : " at " + acknowledgedAtMs);
        }

        public long offset() {
            return offset;
        }

        /** When the group was told that it is safe; -1 when it was not. */
        public long acknowledgedAtMs() {
            return acknowledgedAtMs;
        }

        void acknowledge(long nowMs) {
            acknowledgedAtMs = nowMs;
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

    /** Every commit that may count, in order; the last acknowledged one and what was tried behind it. */
    public List<Commit> commits() {
        return commits;
    }

    boolean isAnyAcknowledged() {
        return commits.stream().anyMatch(commit -> commit.acknowledgedAtMs() >= 0);
    }

    Commit add(long offset) {
        Commit commit = new Commit(offset);
        commits.add(commit);
        return commit;
    }

    /** Begins anew with what a restart showed; -1 when there is no commit. */
    public void reset(long offset, long nowMs) {
        commits.clear();
        if (offset >= 0) {
            add(offset).acknowledge(nowMs);
        }
    }
}
