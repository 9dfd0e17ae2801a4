package io.journalq.server.observe;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.RequestTimes;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Arrays;
import java.util.List;

/**
 * The time of requests by API, summed over all event loops. A series appears with its first request, because most
 * brokers never see most APIs. Any thread.
 */
final class RequestTimesCollector implements Collector {
    static final String NAME = "journalq_request_duration_seconds";

    private static final double NANOS_PER_SECOND = 1e9;

    private final List<RequestTimes> loops;

    RequestTimesCollector(List<LoopCycle> cycles) {
        this.loops = cycles.stream().map(LoopCycle::requestTimes).toList();
    }

    @Override
    public MetricSnapshot collect() {
        HistogramSnapshot.Builder snapshot = HistogramSnapshot.builder()
                .name(NAME)
                .help("Time from the event loop iteration that reads a request to the end of the one that writes its"
                        + " response. A Fetch includes the time that it waits for records.");
        for (ApiKey api : ApiKey.values()) {
            long[] counts = new long[RequestTimes.bucketCount()];
            long sumNanos = 0;
            for (RequestTimes times : loops) {
                for (int bucket = 0; bucket < counts.length; bucket++) {
                    counts[bucket] += times.count(api, bucket);
                }
                sumNanos += times.sumNanos(api);
            }
            if (Arrays.stream(counts).sum() > 0) {
                snapshot.dataPoint(HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(ClassicHistogramBuckets.of(upperBounds(), counts))
                        .sum(sumNanos / NANOS_PER_SECOND)
                        .labels(Labels.of("api", api.apiName()))
                        .build());
            }
        }
        return snapshot.build();
    }

    private static double[] upperBounds() {
        double[] bounds = new double[RequestTimes.bucketCount()];
        for (int bucket = 0; bucket < bounds.length; bucket++) {
            long nanos = RequestTimes.upperBoundNanos(bucket);
            bounds[bucket] = nanos == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : nanos / NANOS_PER_SECOND;
        }
        return bounds;
    }

    @Override
    public String getPrometheusName() {
        return NAME;
    }
}
