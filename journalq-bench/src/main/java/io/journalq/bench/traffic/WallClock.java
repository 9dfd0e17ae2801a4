package io.journalq.bench.traffic;

import java.time.Instant;

/**
 * Nanoseconds since 1970 without steps while the program runs: the wall clock is read once, and the monotonic clock counts
 * from there. The clocks of two programs on one machine differ by a few microseconds, so publisher and subscriber may be
 * separate programs. Stateless.
 */
final class WallClock {
    private static final long ANCHOR_MONOTONIC_NS = System.nanoTime();
    private static final long ANCHOR_WALL_NS = wallNs();

    private WallClock() {}

    static long nowNs() {
        return of(System.nanoTime());
    }

    /** The time of this clock when {@link System#nanoTime} is {@code monotonicNs}. */
    static long of(long monotonicNs) {
        return ANCHOR_WALL_NS + (monotonicNs - ANCHOR_MONOTONIC_NS);
    }

    private static long wallNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
