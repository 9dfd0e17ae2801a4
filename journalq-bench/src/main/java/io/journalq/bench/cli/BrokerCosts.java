package io.journalq.bench.cli;

import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.output.Output;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a request costs a broker, as values of a result by name. Names are a data format. Stateless. */
final class BrokerCosts {
    private static final double US_PER_MS = 1e3;

    private BrokerCosts() {}

    /** Adds the costs. If the broker has no metrics, {@code requests} is below 1 and the costs of a request are null. */
    static void put(Map<String, Object> row, ResourceUse use, long requests, long messages) {
        row.put(
                "broker_cpu_us_per_message",
                messages < 1 ? null : Statistics.thousandths(use.brokerMicrosPer(messages)));
        row.put(
                "broker_cpu_us_per_request",
                requests < 1 ? null : Statistics.hundredths(use.brokerMicrosPer(requests)));
        row.put("wake_ups_per_request", ratio(use.brokerWakeUps(), requests));
        row.put("preemptions_per_request", ratio(use.brokerPreemptions(), requests));
        row.put("hand_overs_per_request", ratio(use.brokerHandOvers(), requests));
    }

    private static Double ratio(long count, long requests) {
        return requests < 1 || count < 0 ? null : Statistics.thousandths((double) count / requests);
    }

    /** A table for people: a line for each row of the result. */
    static String listing(List<Map<String, Object>> rows, String rate) {
        List<Map<String, Object>> lines = new ArrayList<>();
        for (Map<String, Object> row : rows) {
            Map<String, Object> line = new LinkedHashMap<>();
            if (row.containsKey("case")) {
                line.put("case", row.get("case"));
            }
            line.put("shards", row.get("shards"));
            line.put(rate.equals("qps") ? "msg/s" : "requests/s", row.get(rate));
            line.put("p99 ms", digits(((Number) row.get("latency_p99_us")).doubleValue() / US_PER_MS));
            line.put("us/msg", digits(row.get("broker_cpu_us_per_message")));
            line.put("us/request", digits(row.get("broker_cpu_us_per_request")));
            line.put("wake-ups", digits(row.get("wake_ups_per_request")));
            line.put("preempted", digits(row.get("preemptions_per_request")));
            line.put("hand-overs", digits(row.get("hand_overs_per_request")));
            lines.add(line);
        }
        return Output.listing(lines)
                + "Time of the broker's processors; wake-ups, preemptions, hand-overs per request.\n";
    }

    private static String digits(Object value) {
        return value == null ? "-" : String.format(Locale.ROOT, "%.2f", ((Number) value).doubleValue());
    }
}
