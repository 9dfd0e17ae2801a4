package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import io.journalq.bench.BenchException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table with one value of each side beside the others': {@code VALUE:FORM by SERIES over KEY, KEY}. A line for each
 * combination of keys, a column for each side in the order in which they appear, and what the first is of each other one.
 * Where a combination has several rows, as from repetitions, the median counts. One thread.
 */
final class Sides {
    private static final Pattern WHAT = Pattern.compile("(\\w+):(\\w+) by (\\w+) over (\\w+(?:, *\\w+)*)");

    private final Path file;
    private final JsonNode rows;
    private final String value;
    private final String form;
    private final String side;
    private final List<String> keys;

    private Sides(Path file, JsonNode rows, Matcher what) {
        this.file = file;
        this.rows = rows;
        this.value = what.group(1);
        this.form = what.group(2);
        this.side = what.group(3);
        this.keys = List.of(what.group(4).split(", *", -1));
    }

    /** The table in Markdown. */
    static String table(Path file, String words) {
        Matcher what = WHAT.matcher(words.strip());
        if (!what.matches()) {
            throw new BenchException(
                    "'" + words.strip() + "' names no sides", "write VALUE:FORM by SIDE over KEY, KEY");
        }
        return new Sides(file, Results.rows(file), what).table();
    }

    private String table() {
        Map<List<String>, Map<String, List<Double>>> lines = new LinkedHashMap<>();
        Set<String> sides = new LinkedHashSet<>();
        for (int row = 0; row < rows.size(); row++) {
            List<String> line = new ArrayList<>();
            for (String key : keys) {
                line.add(Results.inWords(Results.value(rows, row, key, file), "plain"));
            }
            String one = Results.value(rows, row, side, file).asText();
            sides.add(one);
            lines.computeIfAbsent(line, any -> new LinkedHashMap<>())
                    .computeIfAbsent(one, any -> new ArrayList<>())
                    .add(Results.value(rows, row, value, file).asDouble());
        }
        return header(sides) + body(lines, sides);
    }

    private String header(Set<String> sides) {
        List<String> titles = new ArrayList<>(keys);
        titles.addAll(sides);
        String first = sides.isEmpty() ? "" : sides.iterator().next();
        sides.stream().skip(1).forEach(other -> titles.add(first + " / " + other));
        return "| " + String.join(" | ", titles) + " |\n|" + "---|".repeat(titles.size()) + "\n";
    }

    private String body(Map<List<String>, Map<String, List<Double>>> lines, Set<String> sides) {
        StringBuilder text = new StringBuilder();
        lines.forEach((line, values) -> {
            List<String> cells = new ArrayList<>(line);
            sides.forEach(one -> cells.add(
                    values.containsKey(one) ? Results.inWords(DoubleNode.valueOf(median(values.get(one))), form) : ""));
            String first = sides.iterator().next();
            sides.stream().skip(1).forEach(other -> cells.add(ratio(values.get(first), values.get(other))));
            text.append("| ").append(String.join(" | ", cells)).append(" |\n");
        });
        return text.toString();
    }

    private static String ratio(List<Double> own, List<Double> other) {
        if (own == null || other == null || median(other) == 0) {
            return "";
        }
        return Results.inWords(DoubleNode.valueOf(median(own) / median(other)), "x2");
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
