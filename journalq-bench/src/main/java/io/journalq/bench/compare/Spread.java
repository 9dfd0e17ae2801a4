package io.journalq.bench.compare;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** Median, least and most of one value over repetitions. */
public record Spread(double median, double least, double most) {

    /** {@code results} is not empty. */
    public static <R> Spread of(List<R> results, ToDoubleFunction<R> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }

    /** As {@code [least-most]}. */
    public String range() {
        return "[" + plain(least) + "-" + plain(most) + "]";
    }

    /** Without digits that mean nothing. */
    public static double rounded(double value) {
        return Math.abs(value) >= 1_000 ? Math.round(value) : Math.round(value * 100) / 100.0;
    }

    private static String plain(double value) {
        double rounded = rounded(value);
        return rounded == Math.rint(rounded) ? Long.toString((long) rounded) : Double.toString(rounded);
    }
}
