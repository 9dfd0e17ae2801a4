package io.journalq.server.shard.healing;

import java.util.concurrent.atomic.AtomicLong;

/** Statistics of damage since the broker started. Any thread. */
public final class HealingCounters {
    private final AtomicLong found = new AtomicLong();
    private final AtomicLong healed = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private volatile int unhealed;

    void onFound() {
        found.incrementAndGet();
    }

    void onHealed() {
        healed.incrementAndGet();
    }

    void onFailure() {
        failures.incrementAndGet();
    }

    void setUnhealed(int count) {
        unhealed = count;
    }

    /** Number of damaged segments that were found. */
    public long found() {
        return found.get();
    }

    /** Number of segments that were replaced. */
    public long healed() {
        return healed.get();
    }

    /** Number of failed attempts to replace a segment. */
    public long failures() {
        return failures.get();
    }

    /** Number of known places of damage that are not healed yet. */
    public int unhealed() {
        return unhealed;
    }
}
