package io.journalq.bench.compare;

import io.journalq.bench.measure.Statistics;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** Median, minimum and maximum of a value over repetitions. */
public record Spread(double median, double min, double max) {

    /** {@code results} is not empty. */
    public static <R> Spread of(List<R> results, ToDoubleFunction<R> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return new Spread(Statistics.median(DoubleStream.of(sorted)), sorted[0], sorted[sorted.length - 1]);
    }

    /** The range as {@code [min-max]}. */
    public String range() {
        return "[" + plain(min) + "-" + plain(max) + "]";
    }

    private static String plain(double value) {
        double rounded = Statistics.rounded(value);
        return rounded == Math.rint(rounded) ? Long.toString((long) rounded) : Double.toString(rounded);
    }
}
