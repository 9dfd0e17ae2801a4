package io.journalq.server.shard.compaction;

import java.util.concurrent.atomic.AtomicLong;

/** What compaction did since the broker started. Any thread. */
public final class CleanerCounters {
    private final AtomicLong runs = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong readBytes = new AtomicLong();
    private final AtomicLong freedBytes = new AtomicLong();
    private volatile long lastRunMs;
    private volatile double maxDirtyRatio;
    private volatile int uncleanable;

    CleanerCounters(long startedMs) {
        lastRunMs = startedMs;
    }

    void onRun(long readSizeBytes, long freedSizeBytes) {
        runs.incrementAndGet();
        readBytes.addAndGet(readSizeBytes);
        freedBytes.addAndGet(freedSizeBytes);
    }

    void onFailure() {
        failures.incrementAndGet();
    }

    void onLook(long nowMs, double maxRatio, int uncleanablePartitions) {
        lastRunMs = nowMs;
        maxDirtyRatio = maxRatio;
        uncleanable = uncleanablePartitions;
    }

    /** Compactions that ended well. */
    public long runs() {
        return runs.get();
    }

    public long failures() {
        return failures.get();
    }

    /** Bytes gone through. */
    public long readBytes() {
        return readBytes.get();
    }

    /** Bytes by which logs became smaller. */
    public long freedBytes() {
        return freedBytes.get();
    }

    /** When partitions were last looked at, in milliseconds since 1970 UTC. */
    public long lastRunMs() {
        return lastRunMs;
    }

    /** Largest fraction of a partition that waits for compaction, 0 to 1, as of the last look. */
    public double maxDirtyRatio() {
        return maxDirtyRatio;
    }

    /** Partitions whose compaction failed, as of the last look. */
    public int uncleanablePartitions() {
        return uncleanable;
    }
}
