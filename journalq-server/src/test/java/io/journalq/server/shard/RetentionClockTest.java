package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.MemoryFileStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Retention by time does not trust every clock. */
class RetentionClockTest {
    private static final Path DIRECTORY = Path.of("data");
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);
    private static final long MAX_JUMP_MS = 4 * DAY_MS;
    private static final long BEGIN_MS = 1_800_000_000_000L;

    private final MemoryFileStore store = new MemoryFileStore();
    private long clockMs = BEGIN_MS;
    private long passedMs;

    private RetentionClock start() {
        return start(MAX_JUMP_MS);
    }

    private RetentionClock start(long maxJumpMs) {
        RetentionClock clock = open(maxJumpMs);
        if (clock.isUnknown()) {
            clock.startFrom(RetentionClock.UNKNOWN);
        }
        return clock;
    }

    private RetentionClock open(long maxJumpMs) {
        return new RetentionClock(
                store, DIRECTORY, new SetClock(), () -> TimeUnit.MILLISECONDS.toNanos(passedMs), maxJumpMs);
    }

    @Test
    void shouldMakeNothingDueWhenItIsNotStarted() {
        RetentionClock clock = open(MAX_JUMP_MS);

        assertThat(clock.nowMs()).isZero();
        clock.startFrom(RetentionClock.UNKNOWN);
        assertThat(clock.nowMs()).isEqualTo(clockMs);
    }

    /** Lets the broker and its clock run. */
    private void run(long ms) {
        passedMs += ms;
        clockMs += ms;
    }

    private void runAndStop(RetentionClock clock) {
        run(DAY_MS);
        clock.nowMs();
        clock.save();
    }

    @Test
    void shouldGoByTheClockWhenItIsRight() {
        RetentionClock clock = start();
        for (int day = 0; day < 30; day++) {
            assertThat(clock.nowMs()).isEqualTo(clockMs);
            run(DAY_MS);
        }
    }

    @Test
    void shouldGoByTheClockWhenTheBrokerWasOffForALongWeekend() {
        // given
        runAndStop(start());

        // when
        clockMs += MAX_JUMP_MS;

        // then
        RetentionClock clock = start();
        assertThat(clock.nowMs()).isEqualTo(clockMs);
        assertThat(clock.isWaiting()).isFalse();
    }

    @Test
    void shouldGoOnFromTheLastKnownTimeWhenTheClockIsFarAheadAtTheStart() {
        // given
        runAndStop(start());
        long lastMs = clockMs;

        // when
        clockMs += 400 * DAY_MS;
        RetentionClock clock = start();

        // then
        assertThat(clock.nowMs()).isEqualTo(lastMs);
        run(DAY_MS);
        assertThat(clock.nowMs()).isEqualTo(lastMs + DAY_MS);
        assertThat(clock.isWaiting()).isTrue();
    }

    @Test
    void shouldGoOnFromTheLastKnownTimeWhenTheClockJumpsWhileTheBrokerRuns() {
        // given
        RetentionClock clock = start();
        clock.nowMs();
        run(DAY_MS);

        // when
        clockMs += 400 * DAY_MS;

        // then
        assertThat(clock.nowMs()).isEqualTo(BEGIN_MS + DAY_MS);
    }

    @Test
    void shouldGoByTheClockAgainWhenItIsSetRight() {
        // given
        RetentionClock clock = start();
        clock.nowMs();
        clockMs += 400 * DAY_MS;
        run(DAY_MS);
        clock.nowMs();

        // when
        clockMs -= 400 * DAY_MS;

        // then
        assertThat(clock.nowMs()).isEqualTo(clockMs);
        assertThat(clock.isWaiting()).isFalse();
    }

    @Test
    void shouldBelieveTheClockWhenTheBrokerHasRunForTheBoundAlsoOverRestarts() {
        // given
        runAndStop(start());
        clockMs += 400 * DAY_MS;
        RetentionClock clock = start();
        run(3 * DAY_MS);
        clock.nowMs();
        clock.save();

        // when
        clock = start();
        run(DAY_MS / 2);
        assertThat(clock.nowMs()).isLessThan(clockMs - 300 * DAY_MS);
        run(DAY_MS / 2);

        // then
        assertThat(clock.nowMs()).isEqualTo(clockMs);
        assertThat(clock.isWaiting()).isFalse();
    }

    @Test
    void shouldBelieveTheClockWhenTheOperatorSaysSo() {
        // given
        runAndStop(start());
        clockMs += 400 * DAY_MS;

        // when
        RetentionClock told = start(-1);
        assertThat(told.nowMs()).isEqualTo(clockMs);
        told.save();

        // then the next start needs no time of a record
        RetentionClock clock = start();
        assertThat(clock.nowMs()).isEqualTo(clockMs);
        assertThat(clock.isWaiting()).isFalse();
    }

    @Test
    void shouldCompareWithTheNewestRecordWhenNoTimeWasKept() {
        // when
        RetentionClock clock = open(MAX_JUMP_MS);
        assertThat(clock.isUnknown()).isTrue();
        clock.startFrom(BEGIN_MS - 500 * DAY_MS);
        clock.startFrom(BEGIN_MS - 400 * DAY_MS);
        clock.startFrom(-1);

        // then
        assertThat(clock.nowMs()).isEqualTo(BEGIN_MS - 400 * DAY_MS);
    }

    @Test
    void shouldGoByTheClockWhenTheNewestRecordIsOfTheFuture() {
        RetentionClock clock = start();
        clock.startFrom(BEGIN_MS + 400 * DAY_MS);
        assertThat(clock.nowMs()).isEqualTo(BEGIN_MS);
    }

    @Test
    void shouldGoByTheClockWhenWhatWasKeptCannotBeRead() throws Exception {
        store.replace(DIRECTORY.resolve(RetentionClock.FILE_NAME), ByteBuffer.wrap(new byte[] {0, 0, 0}), false);
        assertThat(start().nowMs()).isEqualTo(BEGIN_MS);
    }

    private final class SetClock extends Clock {
        @Override
        public long millis() {
            return clockMs;
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochMilli(clockMs);
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
}
