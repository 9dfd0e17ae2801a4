package io.journalq.server.shard.coordinator;

import io.journalq.server.loop.Loop;
import java.time.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The clock of a coordinator, and the steps by which it was set. A step is what the clock has gained or lost against
 * the time of the loop, which nobody sets. On the loop.
 */
final class ClockSteps {
    /** Smaller differences are noticed when they have added up to this. */
    private static final long SHORTEST_STEP_MS = 1_000;

    /** If both times were read further apart than this, they are not compared. */
    private static final long LONGEST_READ_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Clock clock;
    private final Loop loop;
    /** By how much the clock was ahead of the time of the loop. */
    private long aheadMs;

    private long stepMs;

    ClockSteps(Clock clock, Loop loop) {
        this.clock = clock;
        this.loop = loop;
        this.aheadMs = clock.millis() - TimeUnit.NANOSECONDS.toMillis(loop.nanoTime());
    }

    /** Reads the clock. */
    long nowMs() {
        long beforeNanos = loop.nanoTime();
        long nowMs = clock.millis();
        long afterNanos = loop.nanoTime();
        long nowAheadMs = nowMs - TimeUnit.NANOSECONDS.toMillis(afterNanos);
        if (afterNanos - beforeNanos <= LONGEST_READ_NANOS && Math.abs(nowAheadMs - aheadMs) >= SHORTEST_STEP_MS) {
            stepMs += nowAheadMs - aheadMs;
            aheadMs = nowAheadMs;
        }
        return nowMs;
    }

    /** By how much the clock was set between the last calls of {@link #nowMs}; 0 if it was not. */
    long takeStepMs() {
        long taken = stepMs;
        stepMs = 0;
        return taken;
    }
}
