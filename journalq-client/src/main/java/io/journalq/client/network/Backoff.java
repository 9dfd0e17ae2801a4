package io.journalq.client.network;

import java.util.concurrent.ThreadLocalRandom;

/**
 * How long to wait before the next try: doubling from {@code initialMs} to {@code maxMs}, each time up to 20 % more or
 * less so that clients do not return in step. Immutable (KIP-580).
 */
public record Backoff(long initialMs, long maxMs) {
    private static final int MAX_DOUBLINGS = 30;
    private static final double JITTER = 0.2;

    /**
     * The wait before a try.
     *
     * @param failures failed tries so far, at least 1
     */
    public long delayMs(int failures) {
        long doubled = initialMs << Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
        double jitter = 1 + JITTER * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        return (long) (Math.min(maxMs, doubled) * jitter);
    }
}
