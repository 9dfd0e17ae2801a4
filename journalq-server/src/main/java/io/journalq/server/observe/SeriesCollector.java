package io.journalq.server.observe;

import io.journalq.server.observe.BrokerMetrics.Series;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;
import java.util.function.Supplier;

/** A metric whose series come and go, such as one for each topic. Any thread. */
final class SeriesCollector implements Collector {
    private final String name;
    private final String help;
    private final boolean counts;
    private final String[] labels;
    private final Supplier<List<Series>> series;

    /**
     * Creates a metric.
     *
     * @param name as on the page, but without {@code _total}
     * @param counts whether the metric is a counter; otherwise it is a gauge
     * @param series called when a page is rendered; no two series may have the same labels
     */
    SeriesCollector(String name, String help, boolean counts, List<String> labels, Supplier<List<Series>> series) {
        this.name = name;
        this.help = help;
        this.counts = counts;
        this.labels = labels.toArray(new String[0]);
        this.series = series;
    }

    @Override
    public MetricSnapshot collect() {
        return counts ? counters() : gauges();
    }

    private MetricSnapshot counters() {
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder().name(name).help(help);
        series.get()
                .forEach(one -> snapshot.dataPoint(CounterDataPointSnapshot.builder()
                        .labels(labelsOf(one))
                        .value(one.value())
                        .build()));
        return snapshot.build();
    }

    private MetricSnapshot gauges() {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder().name(name).help(help);
        series.get()
                .forEach(one -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                        .labels(labelsOf(one))
                        .value(one.value())
                        .build()));
        return snapshot.build();
    }

    private Labels labelsOf(Series one) {
        return Labels.of(labels, one.labelValues().toArray(new String[0]));
    }

    @Override
    public String getPrometheusName() {
        return name;
    }
}
