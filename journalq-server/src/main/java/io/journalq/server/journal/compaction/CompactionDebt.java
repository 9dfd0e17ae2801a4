package io.journalq.server.journal.compaction;

/**
 * What compaction would have to do in one journal.
 *
 * @param cleanSizeBytes size of the closed segments that were compacted before
 * @param dirtySizeBytes size of those that were not, and may be
 * @param overdue whether some of that waits for longer than it may
 */
public record CompactionDebt(long cleanSizeBytes, long dirtySizeBytes, boolean overdue) {
    static final CompactionDebt NONE = new CompactionDebt(0, 0, false);

    /** The part that is dirty, 0 to 1. */
    public double dirtyRatio() {
        return dirtySizeBytes == 0 ? 0 : (double) dirtySizeBytes / (cleanSizeBytes + dirtySizeBytes);
    }

    /** Whether compaction is worth it, or must be. */
    public boolean isDue(CompactionConfig config) {
        return dirtySizeBytes > 0 && (overdue || dirtyRatio() > config.minDirtyRatio());
    }
}
