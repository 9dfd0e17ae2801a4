package io.journalq.chaos;

import java.util.Arrays;

/**
 * Whether a series of samples grows: by the median of the slopes between all pairs (Theil and Sen), which single peaks do
 * not move.
 *
 * @param start where the line is at the first sample
 * @param end where it is at the last
 */
record Trend(double start, double end) {
    /** Of samples at equal distances; at least two. */
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

    /** Whether it grew by more than may be noise: a part of itself, or a few units. */
    boolean grows(double part, double units) {
        return growth() > Math.max(Math.abs(start) * part, units);
    }
}
