package io.journalq.bench.scenario;

import io.journalq.bench.output.Chart;
import io.journalq.bench.output.Chart.Series;
import io.journalq.bench.output.HtmlReport;
import io.journalq.bench.output.ResultDirectory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The charts of a matrix. Each value has a picture of all combinations, and in the page a chart for each delivery and
 * message size. Stateless.
 */
final class MatrixReport {
    private static final Map<String, String> VALUES = new LinkedHashMap<>();

    static {
        VALUES.put("throughput_mps", "messages received per second");
        VALUES.put("latency_p95_us", "microseconds");
        VALUES.put("latency_p99_us", "microseconds");
    }

    private MatrixReport() {}

    static void write(
            Map<String, Object> about,
            List<Map<String, Object>> rows,
            List<Map<String, Object>> runs,
            ResultDirectory results) {
        HtmlReport report = new HtmlReport("Every combination of delivery, size, publishers and subscribers");
        VALUES.forEach((value, unit) -> {
            String file = value.replace("_mps", "").replace("_us", "") + ".png";
            chart("all cells", rows, value, unit).writePng(results.file(file));
            groups(rows).forEach((name, group) -> report.chart(chart(name, group, value, unit)));
        });
        report.table(rows).table(runs).about(about).write(results.file("matrix.html"));
    }

    private static Map<String, List<Map<String, Object>>> groups(List<Map<String, Object>> rows) {
        Map<String, List<Map<String, Object>>> groups = new LinkedHashMap<>();
        rows.forEach(row -> groups.computeIfAbsent(
                        row.get("qos") + ", " + row.get("message_size") + " B", name -> new ArrayList<>())
                .add(row));
        return groups;
    }

    private static Chart chart(String what, List<Map<String, Object>> rows, String value, String unit) {
        Set<String> brokers = new LinkedHashSet<>();
        Set<String> cells = new LinkedHashSet<>();
        Map<String, Double> values = new LinkedHashMap<>();
        for (Map<String, Object> row : rows) {
            String broker = String.valueOf(row.get("broker"));
            String cell = cell(row, what.equals("all cells"));
            brokers.add(broker);
            cells.add(cell);
            values.put(broker + cell, ((Number) row.get(value)).doubleValue());
        }
        List<Series> series = new ArrayList<>();
        for (String broker : brokers) {
            List<Double> ys = new ArrayList<>();
            cells.forEach(cell -> ys.add(values.getOrDefault(broker + cell, 0.0)));
            series.add(new Series(broker, List.of(), ys));
        }
        return Chart.bars(value + ": " + what, "publishers to subscribers", unit, List.copyOf(cells), series);
    }

    private static String cell(Map<String, Object> row, boolean full) {
        String cell = row.get("publishers") + " to " + row.get("subscribers");
        return full ? row.get("qos") + " " + row.get("message_size") + " B " + cell : cell;
    }
}
