package io.journalq.bench.cli;

import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceSettings;
import java.util.LinkedHashMap;
import java.util.Map;

/** The values of a result by name. Names and their order are a data format. Stateless. */
final class ResultRow {
    private ResultRow() {}

    static Map<String, Object> of(ProduceResult result) {
        ProduceSettings settings = result.settings();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("case", settings.produceCase().number());
        row.put("what", settings.produceCase().words());
        row.put("broker", result.broker());
        row.put("client", result.client());
        putUse(row, result.measured().use());
        row.put("qps", Math.round(result.measured().qps()));
        row.put(
                "consumed_per_s",
                settings.produceCase().consumed()
                        ? (Object) Math.round(result.measured().consumedPerSecond())
                        : null);
        putLatency(row, result.measured());
        ResourceUse use = result.measured().use();
        BrokerCosts.put(
                row, use, use.brokerRequests(), Math.round(result.measured().qps() * use.seconds()));
        row.put("broker_cores", Statistics.hundredths(use.brokerCores()));
        row.put("client_cores", Statistics.hundredths(use.clientCores()));
        row.put("broker_rss_mib", use.brokerResidentBytes() >> 20);
        row.put("client_rss_mib", use.clientResidentBytes() >> 20);
        row.put("errors", result.errors());
        row.put("bytes_per_message_on_disk", Statistics.tenths(result.checks().bytesPerMessage()));
        row.put("acknowledged", result.checks().acknowledged());
        row.put("in_journal", result.checks().inJournal());
        row.put("verified_by_content", result.checks().verified());
        row.put("check", result.problem() == null ? "passed" : result.problem());
        putSettings(row, settings);
        putNodes(row, use, result.measured().qps());
        return row;
    }

    private static void putUse(Map<String, Object> row, ResourceUse use) {
        row.put("cpu_percent", Statistics.tenths(use.cpuPercent()));
        row.put("memory_percent", Statistics.tenths(use.memoryPercent()));
        row.put("network_in_mb_per_s", Statistics.tenths(use.networkInMbPerSecond()));
        row.put("network_out_mb_per_s", Statistics.tenths(use.networkOutMbPerSecond()));
        row.put("disk_write_mb_per_s", Statistics.tenths(use.diskWriteMbPerSecond()));
    }

    /** The processes of a cluster. */
    private static void putNodes(Map<String, Object> row, ResourceUse use, double qps) {
        if (use.nodes().size() == 1) {
            return;
        }
        row.put("brokers", use.nodes().size());
        for (int i = 0; i < use.nodes().size(); i++) {
            String node = "broker_" + (i + 1);
            double cores = use.nodes().get(i).cores();
            row.put(node + "_cpu_us_per_message", qps == 0 ? null : Statistics.thousandths(cores * 1e6 / qps));
            row.put(node + "_rss_mib", use.nodes().get(i).residentBytes() >> 20);
        }
    }

    private static void putLatency(Map<String, Object> row, ProduceResult.Measured measured) {
        row.put("latency", measured.latency().kind());
        row.put("latency_p50_us", measured.latency().p50Us());
        row.put("latency_p95_us", measured.latency().p95Us());
        row.put("latency_p99_us", measured.latency().p99Us());
        row.put("latency_p999_us", measured.latency().p999Us());
        row.put("latency_max_us", measured.latency().maxUs());
        row.put("service_p50_us", measured.serviceTime().p50Us());
        row.put("service_p99_us", measured.serviceTime().p99Us());
    }

    private static void putSettings(Map<String, Object> row, ProduceSettings settings) {
        row.put("callers", settings.tuning().inWords(settings.produceCase().batched()));
        row.put("batch", settings.produceCase().batched() ? settings.workload().batchSize() : 1);
        row.put(
                "consumers",
                settings.produceCase().consumed() ? settings.workload().consumers() : 0);
        row.put(
                "consumer_groups",
                settings.produceCase().consumed() ? settings.workload().groups() : 0);
        row.put("rate", settings.messagesPerSecond() == 0 ? "unlimited" : settings.messagesPerSecond() + "/s");
        row.put("partitions", settings.workload().partitions());
        row.put("message_size_bytes", settings.workload().messageSizeBytes());
        row.put("payload", settings.workload().payload());
        row.put("measured_s", settings.duration().toMillis() / 1e3);
    }
}
