package io.journalq.bench.scenario;

import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.traffic.Traffic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The result of a run.
 *
 * @param seconds duration of the measurement
 * @param measured counts of the measurement
 * @param counts counts of the whole run, including the warm-up and the messages received after the measurement
 * @param lost lost messages of the whole run
 * @param endToEnd time from when a message was due until it was received, during the measurement
 * @param acknowledged time from when a message was due until it was acknowledged, during the measurement
 * @param firstError null if nothing failed
 */
record LiveResult(
        double seconds,
        Traffic.Counts measured,
        Traffic.Counts counts,
        long lost,
        Latency endToEnd,
        Latency acknowledged,
        String firstError,
        List<LiveSample> samples) {

    Map<String, Object> row() {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("measured_s", Statistics.tenths(seconds));
        row.put("published_per_s", Math.round(measured.confirmed() / seconds));
        row.put("received_per_s", Math.round(measured.received() / seconds));
        row.put("published", counts.confirmed());
        row.put("received", counts.received());
        row.put("lost", lost);
        row.put("duplicated", counts.duplicated());
        row.put("corrupt", counts.corrupt());
        row.put("failed", counts.failed());
        row.put("end_to_end_p50_us", endToEnd.p50Us());
        row.put("end_to_end_p99_us", endToEnd.p99Us());
        row.put("end_to_end_p999_us", endToEnd.p999Us());
        row.put("end_to_end_max_us", endToEnd.maxUs());
        row.put("acknowledged_p50_us", acknowledged.p50Us());
        row.put("acknowledged_p99_us", acknowledged.p99Us());
        if (!samples.isEmpty()) {
            LiveSample last = samples.get(samples.size() - 1);
            row.put(
                    "cpu_percent",
                    Statistics.tenths(samples.stream()
                            .mapToDouble(sample -> sample.broker().cpuPercent())
                            .average()
                            .orElse(0)));
            row.put(
                    "max_rss_bytes",
                    samples.stream()
                            .mapToLong(sample -> sample.broker().residentBytes())
                            .max()
                            .orElse(-1));
            row.put("threads", last.broker().threads());
            row.put("open_files", last.broker().openFiles());
            row.put("disk_bytes", last.broker().diskBytes());
        }
        return row;
    }
}
