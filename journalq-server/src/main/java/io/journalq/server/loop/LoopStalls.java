package io.journalq.server.loop;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of an event loop's iteration times, from the first request that an iteration reads to its last flush. A
 * long iteration is a stall, because all other connections of the loop wait for it. Buckets double in width.
 *
 * <p>Only the loop writes; any thread can read.
 */
public final class LoopStalls {
    /** Upper bound of the first bucket in nanoseconds: 65.5 µs, about the usual duration of a busy iteration. */
    static final long FIRST_BOUND_NANOS = 1L << 16;

    /** Number of buckets: 65.5 µs, 131 µs and so on. The last one contains everything from about half a second. */
    static final int BUCKET_COUNT = 14;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKET_COUNT);

    void record(long durationNanos) {
        int bucket = bucketOf(durationNanos);
        // There is only one writer, so a plain read and a release write are enough. Neither needs a full fence.
        counts.lazySet(bucket, counts.getPlain(bucket) + 1);
    }

    /** Number of buckets. */
    public int bucketCount() {
        return BUCKET_COUNT;
    }

    /** Exclusive upper bound of a bucket in nanoseconds; {@link Long#MAX_VALUE} for the last. */
    public long upperBoundNanos(int bucket) {
        return bucket == BUCKET_COUNT - 1 ? Long.MAX_VALUE : FIRST_BOUND_NANOS << bucket;
    }

    /** Number of iterations counted in a bucket. */
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
