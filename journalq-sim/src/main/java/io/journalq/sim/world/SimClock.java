package io.journalq.sim.world;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The clocks of one machine: the time of day, and the time of timers. Both run fast or slow by the same rate. The time
 * of day is also ahead of or behind that of the simulation.
 */
public final class SimClock extends Clock {
    /** Beginning of the simulation in milliseconds since 1970 UTC: a day in 2027. */
    public static final long EPOCH_MS = 1_800_000_000_000L;

    private static final long MILLION = 1_000_000;

    private final Scheduler scheduler;
    private final long skewMs;
    private final long driftPpm;

    /** A clock that is right. */
    public SimClock(Scheduler scheduler) {
        this(scheduler, 0, 0);
    }

    /**
     * A clock that is wrong.
     *
     * @param skewMs by how many milliseconds the time of day is ahead at the beginning of the simulation
     * @param driftPpm by how many microseconds a second both times gain
     */
    public SimClock(Scheduler scheduler, long skewMs, long driftPpm) {
        this.scheduler = scheduler;
        this.skewMs = skewMs;
        this.driftPpm = driftPpm;
    }

    @Override
    public long millis() {
        return EPOCH_MS + skewMs + nanoTime() / MILLION;
    }

    /** The time of timers. */
    long nanoTime() {
        long now = scheduler.nowNanos();
        return now + now / MILLION * driftPpm;
    }

    /** How long the simulation takes until this clock has measured {@code nanos}. */
    long simulatedNanos(long nanos) {
        return nanos - nanos / (MILLION + driftPpm) * driftPpm;
    }

    @Override
    public Instant instant() {
        return Instant.ofEpochMilli(millis());
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}
