package io.journalq.server.journal.compaction;

/**
 * The amount of work for compaction in one journal.
 *
 * @param cleanSizeBytes size of the closed segments that were compacted before
 * @param dirtySizeBytes size of the closed segments that were not compacted and may be
 * @param overdue whether a dirty segment has exceeded its maximum lag
 */
public record CompactionDebt(long cleanSizeBytes, long dirtySizeBytes, boolean overdue) {
    static final CompactionDebt NONE = new CompactionDebt(0, 0, false);

    /** The ratio of dirty bytes, 0 to 1. */
    public double dirtyRatio() {
        return dirtySizeBytes == 0 ? 0 : (double) dirtySizeBytes / (cleanSizeBytes + dirtySizeBytes);
    }

    /** Whether compaction is worthwhile or overdue. */
    public boolean isDue(CompactionConfig config) {
        return dirtySizeBytes > 0 && (overdue || dirtyRatio() > config.minDirtyRatio());
    }
}
