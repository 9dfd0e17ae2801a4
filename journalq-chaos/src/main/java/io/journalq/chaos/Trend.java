package io.journalq.chaos;

import java.util.Arrays;

/**
 * The linear trend of a series of samples: the median of the slopes between all pairs (Theil-Sen estimator), which
 * single peaks do not affect.
 *
 * @param start value of the line at the first sample
 * @param end value of the line at the last sample
 */
record Trend(double start, double end) {
    /** The trend of at least two samples at equal distances. */
    static Trend of(double[] samples) {
        int count = samples.length;
        double[] slopes = new double[count * (count - 1) / 2];
        int next = 0;
        for (int i = 0; i < count; i++) {
            for (int j = i + 1; j < count; j++) {
                slopes[next++] = (samples[j] - samples[i]) / (j - i);
            }
        }
        double slope = median(slopes);
        double[] atZero = new double[count];
        for (int i = 0; i < count; i++) {
            atZero[i] = samples[i] - slope * i;
        }
        double start = median(atZero);
        return new Trend(start, start + slope * (count - 1));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    double growth() {
        return end - start;
    }

    /** Whether the growth exceeds both a share of the first value and a number of units. */
    boolean grows(double share, double units) {
        return growth() > Math.max(Math.abs(start) * share, units);
    }
}
