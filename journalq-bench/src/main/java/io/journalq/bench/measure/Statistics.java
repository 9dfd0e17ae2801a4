package io.journalq.bench.measure;

import java.util.List;
import java.util.stream.DoubleStream;

/** Medians of measured values, and rounding to the digits that mean something. Stateless. */
public final class Statistics {
    private static final double THREE_DIGITS_FROM = 1_000;

    private Statistics() {}

    /** The median; the mean of the two middle values if their number is even. {@code values} is not empty. */
    public static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    public static double median(List<Double> values) {
        return median(values.stream().mapToDouble(Double::doubleValue));
    }

    public static double tenths(double value) {
        return Math.round(value * 10) / 10.0;
    }

    public static double hundredths(double value) {
        return Math.round(value * 100) / 100.0;
    }

    public static double thousandths(double value) {
        return Math.round(value * 1_000) / 1e3;
    }

    /** Rounds to whole numbers from 1,000 on, and to hundredths below. */
    public static double rounded(double value) {
        return Math.abs(value) >= THREE_DIGITS_FROM ? Math.round(value) : hundredths(value);
    }
}
