package io.journalq.server.journal.file;

import java.util.concurrent.atomic.AtomicLongArray;

/** A histogram of the durations of fsync calls since the start. Buckets double in width. Any thread. */
public final class SyncTimes {
    /** Upper bound of the first bucket: 64 µs, less than a disk needs. */
    private static final long FIRST_BOUND_MICROS = 64;

    /** The last bucket contains everything above 2.1 s. */
    private static final int BUCKET_COUNT = 17;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKET_COUNT);

    void record(long durationNanos) {
        long micros = durationNanos / 1_000;
        int bucket = 0;
        while (bucket < BUCKET_COUNT - 1 && micros > upperBoundMicros(bucket)) {
            bucket++;
        }
        counts.incrementAndGet(bucket);
    }

    /** Number of buckets. */
    public static int bucketCount() {
        return BUCKET_COUNT;
    }

    /** Inclusive upper bound of a bucket in microseconds; {@link Long#MAX_VALUE} for the last. */
    public static long upperBoundMicros(int bucket) {
        return bucket == BUCKET_COUNT - 1 ? Long.MAX_VALUE : FIRST_BOUND_MICROS << bucket;
    }

    /** Number of calls in a bucket. */
    public long count(int bucket) {
        return counts.get(bucket);
    }
}
