package io.journalq.server.journal.compaction;

/**
 * When a log is compacted, and how long removable records stay. Immutable.
 *
 * @param enabled whether the log is compacted ({@code cleanup.policy})
 * @param minDirtyRatio compaction starts when at least this ratio of the closed segments is new since the last one
 *     ({@code min.cleanable.dirty.ratio}), 0 to 1
 * @param minLagMs records stay at least this long, in milliseconds ({@code min.compaction.lag.ms})
 * @param maxLagMs closed segments wait at most this long, in milliseconds ({@code max.compaction.lag.ms})
 * @param deleteRetentionMs how long tombstones stay after they were first compacted, in milliseconds
 *     ({@code delete.retention.ms})
 */
public record CompactionConfig(
        boolean enabled, double minDirtyRatio, long minLagMs, long maxLagMs, long deleteRetentionMs) {
    /** Never compacted. */
    public static final CompactionConfig OFF = new CompactionConfig(false, 0.5, 0, Long.MAX_VALUE, 86_400_000L);
}
