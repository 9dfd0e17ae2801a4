package io.journalq.bench.cli;

import io.journalq.bench.measure.Statistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What {@code journalq-bench security} measured in all rounds, and the medians with their ratios. One thread. */
final class SecurityResults {
    static final String RATE = "per_s";
    static final String P50_US = "p50_us";
    static final String P99_US = "p99_us";
    static final String CPU_US = "broker_cpu_us";
    /** What 999 in 1,000 iterations of the broker's event loops took at most. */
    static final String LOOP_P999_US = "loop_p999_us";

    private static final List<String> COLUMNS = List.of(RATE, P50_US, P99_US, CPU_US, LOOP_P999_US);

    /** By broker, measurement and column, one value for each round. */
    private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();

    private final List<Map<String, Object>> runs = new ArrayList<>();

    /**
     * Adds a measurement.
     *
     * @param round from 0
     * @param measured by column
     */
    void add(BrokerChoice broker, String name, int round, Duration warmup, Map<String, Double> measured) {
        Map<String, Object> run = new LinkedHashMap<>();
        run.put("broker", broker.toString());
        run.put("measurement", name);
        run.put("round", round + 1);
        run.put("warmup_ms", warmup.toMillis());
        for (String column : COLUMNS) {
            Double value = measured.get(column);
            if (value != null) {
                run.put(column, Statistics.tenths(value));
                values.computeIfAbsent(broker.toString(), first -> new LinkedHashMap<>())
                        .computeIfAbsent(name, first -> new LinkedHashMap<>())
                        .computeIfAbsent(column, first -> new ArrayList<>())
                        .add(value);
            }
        }
        runs.add(run);
    }

    /** The values of each round. */
    List<Map<String, Object>> runs() {
        return List.copyOf(runs);
    }

    /** The medians of each measurement. */
    List<Map<String, Object>> rows() {
        List<Map<String, Object>> rows = new ArrayList<>();
        values.forEach((broker, measurements) -> measurements.forEach((name, columns) -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", broker);
            row.put("measurement", name);
            row.put(RATE, Math.round(median(columns, RATE)));
            row.put("range", range(columns, RATE));
            row.put(P50_US, tenths(columns, P50_US));
            row.put(P99_US, tenths(columns, P99_US));
            row.put(CPU_US, tenths(columns, CPU_US));
            row.put("broker_cpu_range", range(columns, CPU_US));
            row.put(LOOP_P999_US, tenths(columns, LOOP_P999_US));
            row.put("of_plain", ratio(measurements.get(plainOf(name)), columns));
            Map<String, Map<String, List<Double>>> ofKafka =
                    values.getOrDefault(BrokerChoice.KAFKA.toString(), Map.of());
            row.put("of_kafka", ratio(ofKafka.get(name), columns));
            rows.add(row);
        }));
        return rows;
    }

    /** The same measurement over plain connections, if there is one. */
    private static String plainOf(String name) {
        return name.substring(0, name.lastIndexOf(' ')) + " plain";
    }

    private static Object tenths(Map<String, List<Double>> columns, String column) {
        return columns.containsKey(column) ? Statistics.tenths(median(columns, column)) : "";
    }

    private static Object ratio(Map<String, List<Double>> base, Map<String, List<Double>> columns) {
        return base == null ? "" : Statistics.hundredths(median(columns, RATE) / median(base, RATE));
    }

    private static String range(Map<String, List<Double>> columns, String column) {
        List<Double> sorted = columns.get(column).stream().sorted().toList();
        return String.format(Locale.ROOT, "%.0f-%.0f", sorted.get(0), sorted.get(sorted.size() - 1));
    }

    private static double median(Map<String, List<Double>> columns, String column) {
        return Statistics.median(columns.get(column));
    }
}
