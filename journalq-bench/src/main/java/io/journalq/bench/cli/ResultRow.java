package io.journalq.bench.cli;

import io.journalq.bench.produce.ProduceResult;
import java.util.LinkedHashMap;
import java.util.Map;

/** A result's values by name and unit, in the order of the historical table with the rest behind. Stateless. */
final class ResultRow {
    private ResultRow() {}

    static Map<String, Object> of(ProduceResult result) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("case", result.settings().produceCase().number());
        row.put("what", result.settings().produceCase().words());
        row.put("broker", result.broker());
        row.put("client", result.client());
        row.put("threads", threads(result));
        row.put("cpu_percent", result.use().cpuPercent());
        row.put("memory_percent", result.use().memoryPercent());
        row.put("network_in_mb_per_s", result.use().networkInMbPerSecond());
        row.put("network_out_mb_per_s", result.use().networkOutMbPerSecond());
        row.put("disk_write_mb_per_s", result.use().diskWriteMbPerSecond());
        row.put("qps", Math.round(result.qps()));
        row.put(
                "consumed_per_s",
                result.settings().produceCase().consumed() ? (Object) Math.round(result.consumedPerSecond()) : null);
        row.put("latency_p50_us", result.latency().p50Us());
        row.put("latency_p95_us", result.latency().p95Us());
        row.put("latency_p99_us", result.latency().p99Us());
        row.put("latency_p999_us", result.latency().p999Us());
        row.put("latency_max_us", result.latency().maxUs());
        row.put(
                "corrected_p99_us",
                result.corrected() == null ? null : (Object) result.corrected().p99Us());
        row.put("broker_cores", round(result.use().brokerCores()));
        row.put("client_cores", round(result.use().clientCores()));
        row.put("broker_rss_mib", result.use().brokerResidentBytes() >> 20);
        row.put("errors", result.errors());
        row.put("bytes_per_message_on_disk", result.bytesPerMessage());
        row.put("acknowledged", result.acknowledged());
        row.put("in_journal", result.inJournal());
        row.put("verified_by_content", result.verified());
        row.put("check", result.problem() == null ? "passed" : result.problem());
        return row;
    }

    private static String threads(ProduceResult result) {
        return result.settings().threads() + (result.settings().virtualThreads() ? " virtual" : " platform");
    }

    private static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
