package io.journalq.server.shard.compaction;

import java.util.concurrent.atomic.AtomicLong;

/** Statistics of compaction since the broker started. Any thread. */
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

    /** Number of successful compactions. */
    public long runs() {
        return runs.get();
    }

    public long failures() {
        return failures.get();
    }

    /** Bytes read. */
    public long readBytes() {
        return readBytes.get();
    }

    /** Bytes by which logs shrank. */
    public long freedBytes() {
        return freedBytes.get();
    }

    /** When partitions were last checked, in milliseconds since 1970 UTC. */
    public long lastRunMs() {
        return lastRunMs;
    }

    /** Largest dirty ratio of a partition, 0 to 1, at the last check. */
    public double maxDirtyRatio() {
        return maxDirtyRatio;
    }

    /** Number of partitions whose compaction failed, at the last check. */
    public int uncleanablePartitions() {
        return uncleanable;
    }
}
