package io.journalq.bench.compare;

import java.util.List;
import java.util.function.ToDoubleFunction;
import io.journalq.bench.measure.Statistics;
import java.util.stream.DoubleStream;

/** Median, least and most of one value over repetitions. */
public record Spread(double median, double least, double most) {

    /** {@code results} is not empty. */
    public static <R> Spread of(List<R> results, ToDoubleFunction<R> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return new Spread(Statistics.median(DoubleStream.of(sorted)), sorted[0], sorted[sorted.length - 1]);
    }

    /** As {@code [least-most]}. */
    public String range() {
        return "[" + plain(least) + "-" + plain(most) + "]";
    }

    private static String plain(double value) {
        double rounded = Statistics.rounded(value);
        return rounded == Math.rint(rounded) ? Long.toString((long) rounded) : Double.toString(rounded);
    }
}
