package io.journalq.server.coordinator;

/**
 * The time for expiring durable state. It lags behind the clock while the clock is not trusted, so that a clock that
 * was set wrong does not cause deletions.
 */
@FunctionalInterface
public interface RetentionTime {
    /** Always trusts the clock. */
    RetentionTime CLOCK = nowMs -> nowMs;

    /**
     * The trusted time, in milliseconds since 1970 UTC.
     *
     * @param nowMs the clock's time; the result is never later
     */
    long at(long nowMs);
}
