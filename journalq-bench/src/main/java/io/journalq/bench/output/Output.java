package io.journalq.bench.output;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats rows of named values as a table, as CSV or as JSON. Stateless. */
public final class Output {
    /** The format of a result. */
    enum Format {
        TABLE,
        CSV,
        JSON
    }

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private Output() {}

    /**
     * Formats a result.
     *
     * @param about values that apply to all rows
     * @param rows rows with the same names in the same order
     * @param more values that only JSON can represent
     */
    static String format(
            Format format, Map<String, Object> about, List<Map<String, Object>> rows, Map<String, Object> more) {
        return switch (format) {
            case TABLE ->
                table(rows)
                        + about.entrySet().stream()
                                .map(entry -> entry.getKey() + ": " + entry.getValue() + "\n")
                                .collect(Collectors.joining());
            case CSV -> csv(about, rows);
            case JSON -> json(about, rows, more);
        };
    }

    static void write(String text, Path file) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "use --out with a writable file", e);
        }
    }

    private static String json(Map<String, Object> about, List<Map<String, Object>> rows, Map<String, Object> more) {
        Map<String, Object> document = new LinkedHashMap<>(about);
        document.put("results", rows);
        document.putAll(more);
        try {
            return JSON.writeValueAsString(document) + "\n";
        } catch (IOException e) {
            throw new IllegalStateException("plain values are always valid JSON", e);
        }
    }

    /** Appends the values that apply to all rows to each row, so that a row is complete on its own. */
    private static String csv(Map<String, Object> about, List<Map<String, Object>> rows) {
        StringBuilder text = new StringBuilder();
        if (!rows.isEmpty()) {
            text.append(csvLine(rows.get(0).keySet(), about.keySet()));
        }
        for (Map<String, Object> row : rows) {
            text.append(csvLine(row.values(), about.values()));
        }
        return text.toString();
    }

    private static String csvLine(Collection<?> own, Collection<?> common) {
        return Stream.concat(own.stream(), common.stream())
                .map(Output::csvField)
                .collect(Collectors.joining(",", "", "\n"));
    }

    private static String csvField(Object value) {
        String text = value == null ? "" : String.valueOf(value);
        return text.contains(",") || text.contains("\"") || text.contains("\n")
                ? '"' + text.replace("\"", "\"\"") + '"'
                : text;
    }

    private static String table(List<Map<String, Object>> rows) {
        if (rows.isEmpty()) {
            return "";
        }
        // Each row of the result is a column, because there are few results with many values.
        List<String> names = new ArrayList<>(rows.get(0).keySet());
        int nameWidth = names.stream().mapToInt(String::length).max().orElse(0);
        StringBuilder text = new StringBuilder();
        for (String name : names) {
            text.append(pad(name, nameWidth, false));
            for (Map<String, Object> row : rows) {
                int width = row.values().stream()
                        .mapToInt(value -> cell(value).length())
                        .max()
                        .orElse(0);
                text.append("  ").append(pad(cell(row.get(name)), width, true));
            }
            text.append('\n');
        }
        return text.toString();
    }

    /** A table with a line per row, for many results with few values. */
    public static String listing(List<Map<String, Object>> rows) {
        if (rows.isEmpty()) {
            return "";
        }
        List<String> names = new ArrayList<>(rows.get(0).keySet());
        StringBuilder text = new StringBuilder();
        List<Integer> widths = names.stream()
                .map(name -> rows.stream()
                        .mapToInt(row -> cell(row.get(name)).length())
                        .reduce(name.length(), Math::max))
                .toList();
        for (int i = 0; i < names.size(); i++) {
            text.append(i == 0 ? "" : "  ").append(pad(names.get(i), widths.get(i), i > 0));
        }
        text.append('\n');
        for (Map<String, Object> row : rows) {
            for (int i = 0; i < names.size(); i++) {
                text.append(i == 0 ? "" : "  ").append(pad(cell(row.get(names.get(i))), widths.get(i), i > 0));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static String cell(Object value) {
        if (value == null) {
            return "-";
        }
        if (value instanceof Long || value instanceof Integer) {
            return "%,d".formatted(((Number) value).longValue());
        }
        return value instanceof Double number ? "%,.1f".formatted(number) : String.valueOf(value);
    }

    private static String pad(String text, int width, boolean right) {
        String space = " ".repeat(Math.max(0, width - text.length()));
        return right ? space + text : text + space;
    }
}
