package io.journalq.server.shard.partition;

import java.util.concurrent.TimeUnit;

/**
 * Limits the rate of replication in one direction, for the throttled replicas of this broker (KIP-73). What is read or
 * written is counted afterwards, so a throttle is exceeded for as long as it takes to make up for it. All loops share it.
 * Any thread.
 */
public final class ReplicationThrottle {
    /** No limit. Kafka's default. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    /** What is not used within this time is lost. Longer than a fetch waits at a leader that has nothing for it. */
    private static final double MAX_SAVED_SECONDS = 1;

    private volatile long bytesPerSecond = UNLIMITED;
    /** Negative after more was read or written than allowed. */
    private double availableBytes;

    private long countedNanos;

    /**
     * The throttles of a broker. Any thread.
     *
     * @param leader limits what its leaders send to throttled replicas of other brokers
     * @param follower limits what its throttled replicas fetch from their leaders
     */
    public record Directions(ReplicationThrottle leader, ReplicationThrottle follower) {
        /** Without limits. */
        public Directions() {
            this(new ReplicationThrottle(), new ReplicationThrottle());
        }

        /** Limits the rates from now on, in bytes per second. */
        public void limit(long leaderRate, long followerRate, long nowNanos) {
            leader.limit(leaderRate, nowNanos);
            follower.limit(followerRate, nowNanos);
        }
    }

    /**
     * Limits the rate from now on.
     *
     * @param newBytesPerSecond at least 0; {@link #UNLIMITED} for no limit
     * @param nowNanos the time of the loop
     */
    synchronized void limit(long newBytesPerSecond, long nowNanos) {
        if (newBytesPerSecond != bytesPerSecond) {
            availableBytes = 0;
            countedNanos = nowNanos;
            bytesPerSecond = newBytesPerSecond;
        }
    }

    /** Whether nothing may be read or written at the moment. */
    boolean isExceeded(long nowNanos) {
        if (bytesPerSecond == UNLIMITED) {
            return false;
        }
        synchronized (this) {
            refill(nowNanos);
            return availableBytes <= 0;
        }
    }

    /** Counts what was read or written. */
    void count(long bytes, long nowNanos) {
        if (bytesPerSecond == UNLIMITED || bytes <= 0) {
            return;
        }
        synchronized (this) {
            refill(nowNanos);
            availableBytes -= bytes;
        }
    }

    /** The clocks of loops are read at different times, so time can go back a little. */
    private void refill(long nowNanos) {
        double seconds = Math.max(0, nowNanos - countedNanos) / NANOS_PER_SECOND;
        countedNanos = Math.max(countedNanos, nowNanos);
        availableBytes = Math.min(MAX_SAVED_SECONDS * bytesPerSecond, availableBytes + seconds * bytesPerSecond);
    }
}
