package io.journalq.bench.traffic;

import java.time.Instant;

/**
 * Nanoseconds since 1970 that never step while the program runs: read once, then counted on by the monotonic clock.
 * Programs on one machine agree to a few microseconds, so that a publisher and a subscriber may be two of them.
 */
final class WallClock {
    private static final long ANCHOR_MONOTONIC_NS = System.nanoTime();
    private static final long ANCHOR_WALL_NS = wallNs();

    private WallClock() {}

    static long nowNs() {
        return of(System.nanoTime());
    }

    /** What this clock showed, or will show, when {@link System#nanoTime} is {@code monotonicNs}. */
    static long of(long monotonicNs) {
        return ANCHOR_WALL_NS + (monotonicNs - ANCHOR_MONOTONIC_NS);
    }

    private static long wallNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
