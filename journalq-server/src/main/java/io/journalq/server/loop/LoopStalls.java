package io.journalq.server.loop;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of how long an event loop's iterations took, from the first request that one read to its last flush. A
 * long iteration is a stall: every other connection of the loop waited for it. Buckets double in width.
 *
 * <p>Written by its loop alone, read by any thread.
 */
public final class LoopStalls {
    /** Upper bound of the first bucket in nanoseconds: 64 microseconds, about a busy iteration's usual length. */
    static final long FIRST_BOUND_NANOS = 1L << 16;

    /** Buckets: 64 µs, 128 µs and so on; the last one takes everything from about half a second up. */
    static final int BUCKET_COUNT = 14;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKET_COUNT);

    void record(long durationNanos) {
        int bucket = bucketOf(durationNanos);
        // The only writer: a plain increment, published without a fence that waits.
        counts.lazySet(bucket, counts.getPlain(bucket) + 1);
    }

    /** Number of buckets. */
    public int bucketCount() {
        return BUCKET_COUNT;
    }

    /** Upper bound of a bucket in nanoseconds, exclusive; {@link Long#MAX_VALUE} for the last. */
    public long upperBoundNanos(int bucket) {
        return bucket == BUCKET_COUNT - 1 ? Long.MAX_VALUE : FIRST_BOUND_NANOS << bucket;
    }

    /** Iterations counted in a bucket so far. */
    public long count(int bucket) {
        return counts.get(bucket);
    }

    private static int bucketOf(long durationNanos) {
        if (durationNanos < FIRST_BOUND_NANOS) {
            return 0;
        }
        int doublings = Long.SIZE - Long.numberOfLeadingZeros(durationNanos / FIRST_BOUND_NANOS);
        return Math.min(BUCKET_COUNT - 1, doublings);
    }
}
