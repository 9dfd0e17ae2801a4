package io.journalq.bench.measure;

import org.HdrHistogram.AbstractHistogram;

/**
 * Percentiles of a latency histogram. The histogram is in nanoseconds, the percentiles are in microseconds.
 *
 * @param kind what was measured: {@link #SERVICE_TIME}, {@link #CORRECTED} or {@link #FROM_SCHEDULE}
 */
public record Latency(
        String kind, long count, double p50Us, double p95Us, double p99Us, double p999Us, double maxUs, double meanUs) {

    /** From call to response in a closed loop: while a call stalls, the caller makes no other calls. */
    public static final String SERVICE_TIME = "service time";
    /** Service time, with added values for the calls that a stall prevented, at the mean rate of the caller. */
    public static final String CORRECTED = "corrected for coordinated omission";
    /** From the time at which the call was due at the given rate, including the time before it was sent. */
    public static final String FROM_SCHEDULE = "from schedule";

    /** The highest recorded value, a minute. Longer calls count as a minute; they have failed by then. */
    public static final long HIGHEST_NS = 60_000_000_000L;
    /** Significant decimal digits of recorded values. */
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
