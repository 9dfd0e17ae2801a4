package io.journalq.client.internal.network;

import java.util.concurrent.ThreadLocalRandom;

/**
 * The delay before a retry. It doubles with each failure, from {@code initialMs} to {@code maxMs}. A random deviation
 * of up to 20 % keeps clients from retrying at the same time. Immutable (KIP-580).
 */
public record Backoff(long initialMs, long maxMs) {
    private static final int MAX_DOUBLINGS = 30;
    private static final double JITTER = 0.2;

    /**
     * Returns the delay before the next attempt, in milliseconds.
     *
     * @param failures the number of failed attempts, at least 1
     */
    public long delayMs(int failures) {
        long doubled = initialMs << Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
        double jitter = 1 + JITTER * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        return (long) (Math.min(maxMs, doubled) * jitter);
    }
}
