package io.journalq.bench.scenario;

import io.journalq.bench.measure.Statistics;
import io.journalq.bench.traffic.TrafficResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The repetitions of one measurement on one broker. One thread. */
final class Repetitions {
    private final List<TrafficResult> results = new ArrayList<>();
    private String problem;

    /** {@code mayLose}: whether the delivery guarantee permits losses. */
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
        return Statistics.median(results.stream().mapToDouble(value));
    }

    /** The median of a percentile of the end-to-end latency, in microseconds. */
    double percentileUs(double percentile) {
        return percentileUs(TrafficResult::endToEnd, percentile);
    }

    /** The median of a percentile of a latency, in microseconds. */
    double percentileUs(Function<TrafficResult, Histogram> latency, double percentile) {
        return Statistics.tenths(median(result -> latency.apply(result).getValueAtPercentile(percentile) / 1e3));
    }

    /** Minimum and maximum as a range of whole numbers. */
    String range(ToDoubleFunction<TrafficResult> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return "[%.0f-%.0f]".formatted(sorted[0], sorted[sorted.length - 1]);
    }

    /** The first problem; null if there was none. */
    String problem() {
        return problem;
    }
}
