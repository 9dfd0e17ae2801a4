package io.journalq.sim.world;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The time of day in the simulation. */
public final class SimClock extends Clock {
    /** Beginning of the simulation in milliseconds since 1970 UTC: a day in 2027. */
    public static final long EPOCH_MS = 1_800_000_000_000L;

    private final Scheduler scheduler;

    SimClock(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    @Override
    public long millis() {
        return EPOCH_MS + scheduler.nowMs();
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
