package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReplicationThrottleTest {
    private static final int RATE = 1_000;

    private final ReplicationThrottle throttle = new ReplicationThrottle();
    private long nowMs = 5_000;

    private long now() {
        return TimeUnit.MILLISECONDS.toNanos(nowMs);
    }

    /** Counts as much as the throttle allows, for some time. */
    private long count(int bytesAtATime, int ms) {
        long counted = 0;
        for (long endMs = nowMs + ms; nowMs < endMs; nowMs++) {
            while (!throttle.isExceeded(now())) {
                throttle.count(bytesAtATime, now());
                counted += bytesAtATime;
            }
        }
        return counted;
    }

    @Test
    void shouldLimitNothingByDefault() {
        throttle.count(Long.MAX_VALUE, now());

        assertThat(throttle.isExceeded(now())).isFalse();
    }

    @Test
    void shouldKeepTheRateWithSmallAndLargeReads() {
        throttle.limit(RATE, now());

        assertThat(count(10, 10_000)).isBetween(9_900L, 10_100L);
        assertThat(count(3_000, 60_000)).isBetween(57_000L, 63_000L);
    }

    @Test
    void shouldSaveNoMoreThanASecond() {
        throttle.limit(RATE, now());

        nowMs += 60_000;

        assertThat(count(10, 1)).isBetween(1_000L, 1_010L);
    }

    @Test
    void shouldFollowANewRateAndForgetTheOldOne() {
        throttle.limit(RATE, now());
        throttle.count(1_000_000, now());

        throttle.limit(2 * RATE, now());
        assertThat(throttle.isExceeded(now())).isTrue();
        assertThat(count(10, 1_000)).isBetween(1_900L, 2_100L);

        // and the same rate again changes nothing
        throttle.count(100_000, now());
        throttle.limit(2 * RATE, now());
        assertThat(count(10, 10_000)).isZero();

        throttle.limit(ReplicationThrottle.UNLIMITED, now());
        assertThat(throttle.isExceeded(now())).isFalse();
    }

    @Test
    void shouldStandStillAtRateZero() {
        throttle.limit(0, now());

        assertThat(count(10, 10_000)).isZero();
    }

    @Test
    void shouldIgnoreThatTimeGoesBack() {
        throttle.limit(RATE, now());
        nowMs -= 1_000;

        assertThat(throttle.isExceeded(now())).isTrue();
        nowMs += 1_100;
        assertThat(count(10, 1)).isBetween(100L, 110L);
    }
}
