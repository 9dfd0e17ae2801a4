package io.journalq.bench.scenario;

import io.journalq.bench.measure.BrokerSampler.BrokerSample;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.traffic.Traffic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
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
 * @param use resources during the measurement
 * @param atEnd each process of the broker when every message had been received
 */
record LiveResult(
        double seconds,
        Traffic.Counts measured,
        Traffic.Counts counts,
        long lost,
        Latency endToEnd,
        Latency acknowledged,
        String firstError,
        List<LiveSample> samples,
        ResourceUse use,
        List<BrokerSample> atEnd) {

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
            row.put(
                    "broker_cpu_us_per_message",
                    measured.confirmed() == 0
                            ? null
                            : Statistics.thousandths(use.brokerMicrosPer(measured.confirmed())));
            row.put("threads", last.broker().threads());
            row.put("open_files", last.broker().openFiles());
            row.put("disk_bytes", last.broker().diskBytes());
        }
        if (atEnd.size() > 1) {
            putNodes(row);
        }
        return row;
    }

    private static Long known(long value) {
        return value < 0 ? null : value;
    }

    /** The processes of a cluster. */
    private void putNodes(Map<String, Object> row) {
        for (int i = 0; i < atEnd.size(); i++) {
            String node = "broker_" + (i + 1);
            ResourceUse.NodeUse used = use.nodes().get(i);
            row.put(
                    node + "_cpu_us_per_message",
                    measured.confirmed() == 0
                            ? null
                            : Statistics.thousandths(used.cores() * use.seconds() * 1e6 / measured.confirmed()));
            row.put(node + "_max_rss_bytes", used.maxResidentBytes());
            row.put(node + "_heap_bytes", known(atEnd.get(i).heapBytes()));
            row.put(node + "_disk_bytes", known(atEnd.get(i).diskBytes()));
        }
        LongSummaryStatistics disks =
                atEnd.stream().mapToLong(BrokerSample::diskBytes).summaryStatistics();
        row.put(
                "disk_difference_percent",
                disks.getMin() <= 0
                        ? null
                        : Statistics.hundredths(100.0 * (disks.getMax() - disks.getMin()) / disks.getMax()));
    }
}
