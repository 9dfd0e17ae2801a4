package io.journalq.bench.measure;

/**
 * How long iterations of a broker's event loops took during an interval, as its metrics tell in buckets. A connection
 * waits for the whole iteration that its requests arrive in. One thread.
 */
public final class LoopIterations {
    private static final String BUCKETS = "journalq_loop_iteration_seconds_bucket";
    private static final double MICROS_PER_SECOND = 1e6;

    private final MetricsPage before;
    private final MetricsPage now;

    private LoopIterations(String metricsAddress) {
        this.before = new MetricsPage(metricsAddress);
        this.now = new MetricsPage(metricsAddress);
        before.load();
    }

    /** Starts the interval. {@code metricsAddress} is the {@code host:port} of the broker's metrics. */
    public static LoopIterations start(String metricsAddress) {
        return new LoopIterations(metricsAddress);
    }

    /**
     * Ends the interval.
     *
     * @param share such as 0.999
     * @return upper bound in microseconds of the bucket that contains this share of all iterations; -1 if there was none, or
     *     the metrics could not be read
     */
    public double upperBoundUs(double share) {
        now.load();
        double all = count(Double.POSITIVE_INFINITY);
        if (all <= 0) {
            return -1;
        }
        return now.bounds(BUCKETS)
                        .filter(bound -> count(bound) >= share * all)
                        .findFirst()
                        .orElseThrow()
                * MICROS_PER_SECOND;
    }

    private long count(double boundS) {
        return now.upTo(BUCKETS, boundS) - before.upTo(BUCKETS, boundS);
    }
}
