package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.report.Claims.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table with the values of each side beside each other: {@code VALUE:FORM by SIDE over KEY, KEY}. It has a line for each
 * combination of keys, a column for each side in the order of appearance, and the ratio of the first side to each other
 * side. A ratio is given only if {@link Claims} has no objection. If a combination has several rows, their median counts.
 * One thread.
 */
final class SideBySideTable {
    private static final Pattern TABLE = Pattern.compile("(\\w+):(\\w+) by (\\w+) over (\\w+(?:, *\\w+)*)");
    private static final Pattern TALLY = Pattern.compile("(\\w+) by (\\w+) over (\\w+(?:, *\\w+)*) per (\\w+)");

    private final Path file;
    private final JsonNode document;
    private final String value;
    private final String side;
    private final List<String> keys;
    private final Map<List<String>, Map<String, Cell>> lines = new LinkedHashMap<>();
    private final Set<String> sides = new LinkedHashSet<>();

    /** The measurements of one side for one combination of keys. */
    private static final class Cell {
        private final List<Double> values = new ArrayList<>();
        private final List<Double> runs = new ArrayList<>();
        private Optional<Range> statedRange = Optional.empty();
        private boolean failed;

        private double median() {
            return Statistics.median(values);
        }

        private Range range() {
            return statedRange.orElseGet(() -> Range.of(runs.isEmpty() ? values : runs));
        }

        private int repetitions(JsonNode document) {
            return statedRange.isPresent() ? Claims.repetitions(document) : Math.max(values.size(), runs.size());
        }
    }

    private SideBySideTable(Path file, String value, String side, String keys) {
        this.file = file;
        this.document = Results.read(file);
        this.value = value;
        this.side = side;
        this.keys = List.of(keys.split(", *", -1));
        JsonNode rows = Results.rows(file);
        for (int row = 0; row < rows.size(); row++) {
            Cell cell = lines.computeIfAbsent(line(rows, row), any -> new LinkedHashMap<>())
                    .computeIfAbsent(Results.value(rows, row, side, file).asText(), any -> new Cell());
            sides.add(Results.value(rows, row, side, file).asText());
            cell.values.add(Results.value(rows, row, value, file).asDouble());
            cell.statedRange = Claims.range(rows.get(row), value);
            cell.failed |= !Claims.passed(rows.get(row));
        }
        addRuns(document.path("runs"));
    }

    /** The single runs behind the rows, if the file lists them. */
    private void addRuns(JsonNode runs) {
        for (int run = 0; run < runs.size(); run++) {
            JsonNode one = runs.get(run);
            if (one.has(value) && one.has(side) && keys.stream().allMatch(one::has)) {
                Cell cell = lines.getOrDefault(line(runs, run), Map.of())
                        .get(one.get(side).asText());
                if (cell != null) {
                    cell.runs.add(one.get(value).asDouble());
                    cell.failed |= !Claims.passed(one);
                }
            }
        }
    }

    private List<String> line(JsonNode rows, int row) {
        return keys.stream()
                .map(key -> Results.inWords(Results.value(rows, row, key, file), "plain"))
                .toList();
    }

    /** The table in Markdown. */
    static String table(Path file, String words) {
        Matcher what = TABLE.matcher(words.strip());
        if (!what.matches()) {
            throw new BenchException(
                    "'" + words.strip() + "' names no sides", "write VALUE:FORM by SIDE over KEY, KEY");
        }
        return new SideBySideTable(file, what.group(1), what.group(3), what.group(4)).table(what.group(2));
    }

    /**
     * A table with a line for each file: in how many combinations each of two sides has the larger value, in words such as
     * {@code VALUE by SIDE over KEY, KEY per COLUMN}; the column has one value in each file.
     */
    static String tally(List<Path> files, String words) {
        Matcher what = TALLY.matcher(words.strip());
        if (!what.matches()) {
            throw new BenchException(
                    "'" + words.strip() + "' is no tally", "write VALUE by SIDE over KEY, KEY per COLUMN");
        }
        StringBuilder text = new StringBuilder();
        for (Path file : files) {
            SideBySideTable one = new SideBySideTable(file, what.group(1), what.group(2), what.group(3));
            List<String> names = List.copyOf(one.sides);
            if (names.size() != 2) {
                throw new BenchException(file + " has " + names.size() + " sides", "use a file with two");
            }
            if (text.isEmpty()) {
                text.append(
                        "| %s | combinations | %s faster | by | %s faster | not claimed |%n|---|---|---|---|---|---|%n"
                                .formatted(what.group(4), names.get(0), names.get(1)));
            }
            String label = Results.inWords(Results.value(Results.rows(file), 0, what.group(4), file), "plain");
            text.append("| ").append(label).append(one.tallyCells(names.get(0), names.get(1)));
        }
        return text.toString();
    }

    private String tallyCells(String first, String second) {
        List<Double> faster = new ArrayList<>();
        int slower = 0;
        int notClaimed = 0;
        for (Map<String, Cell> cells : lines.values()) {
            Cell one = cells.get(first);
            Cell other = cells.get(second);
            if (one == null || other == null || objection(one, other).isPresent()) {
                notClaimed++;
            } else if (one.median() > other.median()) {
                faster.add(one.median() / other.median());
            } else {
                slower++;
            }
        }
        String by = "";
        if (!faster.isEmpty()) {
            Range range = Range.of(faster);
            by = words(range.min(), "x") + " to " + words(range.max(), "x");
        }
        return " | %d | %d | %s | %d | %d |%n".formatted(lines.size(), faster.size(), by, slower, notClaimed);
    }

    private String table(String form) {
        List<String> titles = new ArrayList<>(keys);
        titles.addAll(sides);
        String first = sides.isEmpty() ? "" : sides.iterator().next();
        sides.stream().skip(1).forEach(other -> titles.add(first + " / " + other));
        StringBuilder text = new StringBuilder("| ")
                .append(String.join(" | ", titles))
                .append(" |\n|")
                .append("---|".repeat(titles.size()))
                .append('\n');
        lines.forEach((line, values) -> {
            List<String> cells = new ArrayList<>(line);
            sides.forEach(one ->
                    cells.add(values.containsKey(one) ? words(values.get(one).median(), form) : ""));
            sides.stream().skip(1).forEach(other -> cells.add(ratio(values.get(first), values.get(other))));
            text.append("| ").append(String.join(" | ", cells)).append(" |\n");
        });
        return text.toString();
    }

    private String ratio(Cell own, Cell other) {
        if (own == null || other == null || other.median() == 0) {
            return "";
        }
        return objection(own, other).orElseGet(() -> words(own.median() / other.median(), "x2"));
    }

    private Optional<String> objection(Cell one, Cell other) {
        if (one.failed || other.failed) {
            return Optional.of(Claims.FAILED);
        }
        return Claims.objection(
                Math.min(one.repetitions(document), other.repetitions(document)), one.range(), other.range());
    }

    private static String words(double number, String form) {
        return Results.inWords(DoubleNode.valueOf(number), form);
    }
}
