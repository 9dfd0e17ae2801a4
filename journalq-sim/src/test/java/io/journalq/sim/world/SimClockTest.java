package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SimClockTest {
    private static final int HALF_PERCENT_PPM = 5_000;
    private static final long HOUR_MS = 3_600_000;

    private final Scheduler scheduler = new Scheduler(new Random(1));

    @Test
    void shouldBeAheadAndGainTimeWhenItIsWrong() {
        SimClock clock = new SimClock(scheduler, HOUR_MS, HALF_PERCENT_PPM);
        assertThat(clock.millis()).isEqualTo(SimClock.EPOCH_MS + HOUR_MS);

        scheduler.spend(1_000);

        assertThat(clock.millis()).isEqualTo(SimClock.EPOCH_MS + HOUR_MS + 1_005);
        assertThat(clock.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(1_005));
    }

    @Test
    void shouldLetATimerFireEarlierWhenItIsFast() {
        SimProcess process = scheduler.newProcess(new SimClock(scheduler, 0, HALF_PERCENT_PPM));
        long[] firedMs = new long[1];
        process.onTimer(Scheduler.Kind.LOOP, 1_000, () -> firedMs[0] = scheduler.nowMs());

        scheduler.runUntil(() -> firedMs[0] > 0);

        assertThat(firedMs[0]).isEqualTo(995);
    }
}
