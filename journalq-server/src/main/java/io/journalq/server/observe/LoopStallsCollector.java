package io.journalq.server.observe;

import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.LoopStalls;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;

/**
 * Exposes the histograms of the event loops. Micrometer has no histogram over existing counts, so this class is
 * registered directly with the Prometheus registry. Any thread.
 */
final class LoopStallsCollector implements Collector {
    static final String NAME = "journalq_loop_iteration_seconds";

    private static final double NANOS_PER_SECOND = 1e9;

    private final List<LoopCycle> cycles;

    LoopStallsCollector(List<LoopCycle> cycles) {
        this.cycles = List.copyOf(cycles);
    }

    @Override
    public MetricSnapshot collect() {
        HistogramSnapshot.Builder snapshot = HistogramSnapshot.builder()
                .name(NAME)
                .help("Time from the first request that an event loop iteration reads to its last flush.");
        cycles.forEach(cycle -> snapshot.dataPoint(dataPoint(cycle)));
        return snapshot.build();
    }

    @Override
    public String getPrometheusName() {
        return NAME;
    }

    private static HistogramDataPointSnapshot dataPoint(LoopCycle cycle) {
        LoopStalls stalls = cycle.stalls();
        double[] upperBounds = new double[stalls.bucketCount()];
        long[] counts = new long[stalls.bucketCount()];
        for (int bucket = 0; bucket < counts.length; bucket++) {
            long boundNanos = stalls.upperBoundNanos(bucket);
            upperBounds[bucket] =
                    boundNanos == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : boundNanos / NANOS_PER_SECOND;
            counts[bucket] = stalls.count(bucket);
        }
        return HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(ClassicHistogramBuckets.of(upperBounds, counts))
                .labels(Labels.of(BrokerMetrics.SHARD_TAG, String.valueOf(cycle.index())))
                .build();
    }
}
