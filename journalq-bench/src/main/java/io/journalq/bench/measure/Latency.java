package io.journalq.bench.measure;

import org.HdrHistogram.AbstractHistogram;

/**
 * Percentiles of a histogram of nanoseconds, in microseconds.
 *
 * @param kind what was measured: {@link #SERVICE_TIME}, {@link #CORRECTED} or {@link #FROM_SCHEDULE}
 */
public record Latency(
        String kind, long count, double p50Us, double p95Us, double p99Us, double p999Us, double maxUs, double meanUs) {

    /** From call to answer, as a caller in a closed loop sees it: while one call stalls, others are not made. */
    public static final String SERVICE_TIME = "service time";
    /** Service time, with the calls filled in that a stall kept from being made at the caller's mean pace. */
    public static final String CORRECTED = "corrected for coordinated omission";
    /** From the moment at which the call was due at the given rate, so that waiting to be sent counts. */
    public static final String FROM_SCHEDULE = "from schedule";

    /** A minute: what takes longer counts as a minute, and has failed by then. */
    public static final long HIGHEST_NS = 60_000_000_000L;
    /** Three digits: a value is exact to a thousandth. */
    public static final int DIGITS = 3;

    public static Latency of(String kind, AbstractHistogram histogram) {
        return new Latency(
                kind,
                histogram.getTotalCount(),
                micros(histogram.getValueAtPercentile(50)),
                micros(histogram.getValueAtPercentile(95)),
                micros(histogram.getValueAtPercentile(99)),
                micros(histogram.getValueAtPercentile(99.9)),
                micros(histogram.getMaxValue()),
                histogram.getTotalCount() == 0 ? 0 : Math.round(histogram.getMean() / 100) / 10.0);
    }

    private static double micros(long nanos) {
        return Math.round(nanos / 100.0) / 10.0;
    }
}
