package io.journalq.server.coordinator;

/**
 * The time by which durable state expires. It lags behind the clock while the clock is not trusted, because a clock that was
 * set wrong must not delete anything.
 */
@FunctionalInterface
public interface RetentionTime {
    /** The clock is always trusted. */
    RetentionTime CLOCK = nowMs -> nowMs;

    /**
     * What may be taken for the time, in milliseconds since 1970 UTC.
     *
     * @param nowMs the clock's time; the result is never later
     */
    long at(long nowMs);
}
