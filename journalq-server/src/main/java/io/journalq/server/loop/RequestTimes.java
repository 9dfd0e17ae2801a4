package io.journalq.server.loop;

import io.journalq.common.protocol.ApiKey;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Histograms of the time from a request to its response, for each API. Responses leave at the end of an iteration, so
 * they are collected until then: the loop reads the clock once for all of them.
 *
 * <p>Only the loop writes; any thread can read.
 */
public final class RequestTimes {
    /** Upper bounds of the buckets; the last bucket has none. */
    private static final long[] UPPER_BOUNDS_NANOS = {
        100_000L,
        250_000L,
        500_000L,
        1_000_000L,
        2_500_000L,
        5_000_000L,
        10_000_000L,
        25_000_000L,
        50_000_000L,
        100_000_000L,
        250_000_000L,
        500_000_000L,
        1_000_000_000L,
        2_500_000_000L,
        5_000_000_000L,
        10_000_000_000L
    };

    private static final int BUCKET_COUNT = UPPER_BOUNDS_NANOS.length + 1;
    private static final int FIRST_CAPACITY = 64;

    private final AtomicLongArray counts;
    private final AtomicLongArray sumsNanos;

    /** The responses of this iteration: the API of each, and when its request was read. */
    private short[] apiIds = new short[FIRST_CAPACITY];

    private long[] readNanos = new long[FIRST_CAPACITY];
    private int responses;

    RequestTimes() {
        int apis = 1 + Arrays.stream(ApiKey.values()).mapToInt(ApiKey::id).max().orElse(0);
        counts = new AtomicLongArray(apis * BUCKET_COUNT);
        sumsNanos = new AtomicLongArray(apis);
    }

    void onResponse(short apiId, long itsReadNanos) {
        if (responses == apiIds.length) {
            apiIds = Arrays.copyOf(apiIds, 2 * responses);
            readNanos = Arrays.copyOf(readNanos, 2 * responses);
        }
        apiIds[responses] = apiId;
        readNanos[responses] = itsReadNanos;
        responses++;
    }

    /** The responses of this iteration were passed to their sockets. */
    void onIterationEnd(long nowNanos) {
        long knownNanos = 0;
        int bucket = -1;
        for (int i = 0; i < responses; i++) {
            // Most responses belong to requests that this iteration read, so that many have the same time.
            if (bucket < 0 || readNanos[i] != knownNanos) {
                knownNanos = readNanos[i];
                bucket = bucketOf(nowNanos - knownNanos);
            }
            LoopCounters.add(counts, apiIds[i] * BUCKET_COUNT + bucket, 1);
            LoopCounters.add(sumsNanos, apiIds[i], nowNanos - knownNanos);
        }
        responses = 0;
    }

    private static int bucketOf(long durationNanos) {
        int bucket = 0;
        while (bucket < UPPER_BOUNDS_NANOS.length && durationNanos > UPPER_BOUNDS_NANOS[bucket]) {
            bucket++;
        }
        return bucket;
    }

    /** Number of buckets. */
    public static int bucketCount() {
        return BUCKET_COUNT;
    }

    /** Inclusive upper bound of a bucket in nanoseconds; {@link Long#MAX_VALUE} for the last. */
    public static long upperBoundNanos(int bucket) {
        return bucket == UPPER_BOUNDS_NANOS.length ? Long.MAX_VALUE : UPPER_BOUNDS_NANOS[bucket];
    }

    /** Number of responses in a bucket. */
    public long count(ApiKey api, int bucket) {
        return counts.get(api.id() * BUCKET_COUNT + bucket);
    }

    /** The times of all responses of an API, in nanoseconds. */
    public long sumNanos(ApiKey api) {
        return sumsNanos.get(api.id());
    }
}
