package io.journalq.bench.scenario;

import io.journalq.bench.output.Chart;
import io.journalq.bench.output.Chart.Series;
import io.journalq.bench.output.HtmlReport;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Charts of a run over time: rates, latency, memory, file handles, threads, disk and processor. Stateless. */
final class StabilityReport {
    private static final double MIB = 1 << 20;

    private StabilityReport() {}

    static void write(
            String title,
            Map<String, Object> about,
            Map<String, Object> row,
            List<LiveSample> samples,
            ResultDirectory results) {
        Chart rates = lines(
                "Throughput",
                "messages per second",
                series("published", samples, LiveSample::publishedPerSecond),
                series("received", samples, LiveSample::receivedPerSecond));
        HtmlReport report = new HtmlReport(title)
                .table(List.of(row))
                .chart(rates)
                .chart(lines(
                        "End-to-end latency",
                        "milliseconds",
                        series("median", samples, sample -> sample.endToEnd().p50Us() / 1e3),
                        series(
                                "99th percentile",
                                samples,
                                sample -> sample.endToEnd().p99Us() / 1e3)))
                .chart(lines(
                        "Memory of the broker",
                        "MiB",
                        series("resident", samples, sample -> sample.broker().residentBytes() / MIB),
                        series("heap in use", samples, sample -> sample.broker().heapBytes() / MIB),
                        series(
                                "network buffers",
                                samples,
                                sample -> sample.broker().directBytes() / MIB)))
                .chart(lines(
                        "File handles and threads of the broker",
                        "count",
                        series("open files", samples, sample -> sample.broker().openFiles()),
                        series("threads", samples, sample -> sample.broker().threads())))
                .chart(lines(
                        "Disk",
                        "MiB",
                        series(
                                "data directory",
                                samples,
                                sample -> sample.broker().diskBytes() / MIB)))
                .chart(lines("Processor", "percent of one core", series("broker", samples, sample -> sample.broker()
                        .cpuPercent())))
                .about(OutputOptions.about(about));
        report.write(results.file("stability.html"));
        rates.writePng(results.file("stability.png"));
    }

    private static Chart lines(String title, String yTitle, Series... series) {
        return Chart.lines(title, "seconds", yTitle, List.of(series));
    }

    /** Leaves out samples in which the value is unknown. */
    private static Series series(String name, List<LiveSample> samples, ToDoubleFunction<LiveSample> value) {
        List<LiveSample> known = samples.stream()
                .filter(sample -> value.applyAsDouble(sample) >= 0)
                .toList();
        return new Series(
                name,
                known.stream().map(LiveSample::atSeconds).toList(),
                known.stream().map(sample -> value.applyAsDouble(sample)).toList());
    }
}
