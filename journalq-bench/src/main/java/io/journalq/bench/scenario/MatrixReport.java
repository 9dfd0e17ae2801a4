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
    /**
     * A value that is drawn.
     *
     * @param column its name in the rows
     * @param divisor of the value in the row, for the unit of the chart
     */
    private record Drawn(String column, String file, String title, String unit, double divisor) {}

    private static final List<Drawn> VALUES = List.of(
            new Drawn("throughput_mps", "throughput.png", "Throughput", "messages received per second", 1),
            new Drawn("latency_p95_us", "latency_p95.png", "End-to-end latency, 95th percentile", "milliseconds", 1e3),
            new Drawn("latency_p99_us", "latency_p99.png", "End-to-end latency, 99th percentile", "milliseconds", 1e3));

    private MatrixReport() {}

    static void write(
            Map<String, Object> about,
            List<Map<String, Object>> rows,
            List<Map<String, Object>> runs,
            ResultDirectory results) {
        HtmlReport report = new HtmlReport("Every combination of delivery, size, publishers and subscribers");
        for (Drawn value : VALUES) {
            chart(value.title(), rows, value, true).writePng(results.file(value.file()));
            groups(rows)
                    .forEach((name, group) -> report.chart(chart(value.title() + ": " + name, group, value, false)));
        }
        report.table(rows).table(runs).about(about).write(results.file("matrix.html"));
    }

    private static Map<String, List<Map<String, Object>>> groups(List<Map<String, Object>> rows) {
        Map<String, List<Map<String, Object>>> groups = new LinkedHashMap<>();
        rows.forEach(row -> groups.computeIfAbsent(
                        row.get("qos") + ", " + row.get("message_size") + " B", name -> new ArrayList<>())
                .add(row));
        return groups;
    }

    private static Chart chart(String title, List<Map<String, Object>> rows, Drawn value, boolean allCells) {
        Set<String> brokers = new LinkedHashSet<>();
        Set<String> cells = new LinkedHashSet<>();
        Map<String, Double> values = new LinkedHashMap<>();
        for (Map<String, Object> row : rows) {
            String broker = String.valueOf(row.get("broker"));
            String cell = cell(row, allCells);
            brokers.add(broker);
            cells.add(cell);
            values.put(broker + cell, ((Number) row.get(value.column())).doubleValue() / value.divisor());
        }
        List<Series> series = new ArrayList<>();
        for (String broker : brokers) {
            List<Double> ys = new ArrayList<>();
            cells.forEach(cell -> ys.add(values.getOrDefault(broker + cell, 0.0)));
            series.add(new Series(broker, List.of(), ys));
        }
        return Chart.bars(title, "publishers to subscribers", value.unit(), List.copyOf(cells), series);
    }

    private static String cell(Map<String, Object> row, boolean full) {
        String cell = row.get("publishers") + " to " + row.get("subscribers");
        return full ? row.get("qos") + " " + row.get("message_size") + " B " + cell : cell;
    }
}
