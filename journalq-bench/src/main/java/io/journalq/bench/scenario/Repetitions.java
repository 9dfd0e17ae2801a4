package io.journalq.bench.scenario;

import io.journalq.bench.traffic.TrafficResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The repetitions of one measurement on one broker. One thread. */
final class Repetitions {
    private final List<TrafficResult> results = new ArrayList<>();
    private String problem;

    /** {@code mayLose}: whether losses are within the promise. */
    void add(TrafficResult result, boolean mayLose) {
        results.add(result);
        if (problem == null) {
            problem = result.problem(mayLose);
        }
    }

    List<TrafficResult> results() {
        return results;
    }

    double median(ToDoubleFunction<TrafficResult> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The median of a percentile of the latency from end to end, in microseconds. */
    double percentileUs(double percentile) {
        return tenths(median(result -> result.endToEnd().getValueAtPercentile(percentile) / 1e3));
    }

    /** Least and most, as a range of whole numbers. */
    String range(ToDoubleFunction<TrafficResult> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return "[%.0f-%.0f]".formatted(sorted[0], sorted[sorted.length - 1]);
    }

    /** The first that was wrong; null when nothing was. */
    String problem() {
        return problem;
    }

    static double tenths(double value) {
        return Math.round(value * 10) / 10.0;
    }
}
