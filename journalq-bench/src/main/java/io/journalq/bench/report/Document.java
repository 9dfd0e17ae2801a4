package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.journalq.bench.BenchException;
import io.journalq.bench.output.Chart;
import io.journalq.bench.output.ColumnName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Markdown document with places that results fill. A place is a comment that says what belongs there, what was filled in,
 * and a comment that ends it:
 *
 * <pre>{@code
 * <!-- results table results.json: broker, rate, p99_us=p99 (ms):ms -->      every row, these columns
 * <!-- results sides results.json: p99_us:ms by broker over rate -->         one beside the other
 * <!-- results chart results.json: p99_us over rate by broker to p99.png -->  bars
 * <!-- results tally a.json, b.json: mps by broker over rate per size -->     how often each side is faster
 * <!-- results text                                                           text with {FILE ROW COLUMN FORM} in it
 * | sync | {results.json 0 journalq_qps si} |
 * -->
 * <!-- /results -->
 * }</pre>
 *
 * A row of {@code -} in a text stands for the file as a whole. A difference between two sides is filled in only if
 * {@link Claims} has no objection. File names are relative to the document's directory. One thread.
 */
final class Document {
    /** A place, or an example in a block of code, which is left alone. */
    private static final Pattern PLACE = Pattern.compile(
            "```.*?\\n```|(<!-- results (table|sides|tally|chart|text)\\s(.*?)-->\\n)(.*?)(<!-- /results -->)",
            Pattern.DOTALL);

    private static final Pattern VALUE = Pattern.compile("\\{(\\S+) (\\d+|-) (\\w+) ([\\w:.]+)}");

    /** What a document may say without a result: places, comments, blocks of code, code, and targets of links. */
    private static final Pattern NOT_TYPED = Pattern.compile(
            "<!-- results.*?<!-- /results -->|<!--.*?-->|```.*?\\n```|`[^`\\n]*`|(?<=])\\([^)\\n]*\\)", Pattern.DOTALL);

    /** Numbers with a unit of measurement, multiples, shares and fractions. */
    private static final Pattern FIGURE = Pattern.compile("(?<![\\w.])(?:1/\\d+(?:\\.\\d+)?"
            + "|\\d[\\d.,]*(?:[kM]\\b|\\s?×|\\s?%|\\s?(?:µs|ms|MiB|MB|GiB|GB)\\b"
            + "|\\s(?:times|messages a second|requests a second|deliveries a second)\\b)"
            + "|\\d+\\.\\d+\\s(?:s|to)\\b)");

    private static final Pattern TARGET_FORM = Pattern.compile("target:(\\d+(?:\\.\\d+)?)");

    private static final Pattern CHART = Pattern.compile("(\\w+) over (\\w+) by (\\w+) to (\\S+)");

    private final Path file;
    private final String before;

    Document(Path file) {
        this.file = file;
        try {
            before = Files.readString(file);
        } catch (IOException e) {
            throw new BenchException("cannot read " + file, "use a Markdown document", e);
        }
    }

    /** The document with its places filled. Charts are drawn when {@code draw} says so. */
    String filled(boolean draw) {
        Matcher places = PLACE.matcher(before);
        StringBuilder text = new StringBuilder();
        while (places.find()) {
            if (places.group(1) == null) {
                places.appendReplacement(text, Matcher.quoteReplacement(places.group()));
                continue;
            }
            String what = places.group(3).strip();
            String content =
                    switch (places.group(2)) {
                        case "table" -> table(what);
                        case "chart" -> chart(what, draw);
                        case "sides" -> sides(what);
                        case "tally" -> tally(what);
                        default -> text(what);
                    };
            places.appendReplacement(text, Matcher.quoteReplacement(places.group(1) + content + places.group(5)));
        }
        return places.appendTail(text).toString();
    }

    boolean isCurrent() {
        return filled(false).equals(before);
    }

    /** Figures outside of the places, as {@code LINE: FIGURE}: typed by hand, and not backed by a result. */
    List<String> typedFigures() {
        String prose =
                NOT_TYPED.matcher(before).replaceAll(found -> found.group().replaceAll("[^\\n]", " "));
        List<String> figures = new ArrayList<>();
        List<String> lines = prose.lines().toList();
        for (int line = 0; line < lines.size(); line++) {
            Matcher figure = FIGURE.matcher(lines.get(line));
            while (figure.find()) {
                figures.add(line + 1 + ": " + figure.group());
            }
        }
        return figures;
    }

    /** Whether anything changed. */
    boolean fill() {
        String after = filled(true);
        try {
            Files.writeString(file, after);
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "make it writable", e);
        }
        return !after.equals(before);
    }

    private Path resolve(String name) {
        return file.toAbsolutePath().getParent().resolve(name);
    }

    private String table(String what) {
        String[] parts = what.split(":", 2);
        Path results = resolve(parts[0].strip());
        JsonNode file = Results.read(results);
        JsonNode rows = Results.rows(results);
        List<Column> columns = new ArrayList<>();
        for (String column : required(parts, what).split(",", -1)) {
            columns.add(Column.parse(column.strip()));
        }
        StringBuilder text = new StringBuilder("|");
        columns.forEach(column -> text.append(' ').append(column.title()).append(" |"));
        text.append("\n|").append("---|".repeat(columns.size())).append('\n');
        for (int row = 0; row < rows.size(); row++) {
            text.append('|');
            for (Column column : columns) {
                text.append(' ')
                        .append(Claims.objection(file, rows.get(row), column.name())
                                .orElse(Results.inWords(
                                        Results.value(rows, row, column.name(), results), column.form())))
                        .append(" |");
            }
            text.append('\n');
        }
        return text.toString();
    }

    private String sides(String what) {
        String[] parts = what.split(":", 2);
        return SideBySideTable.table(resolve(parts[0].strip()), required(parts, what));
    }

    private String tally(String what) {
        String[] parts = what.split(":", 2);
        List<Path> files = new ArrayList<>();
        for (String name : parts[0].split(",", -1)) {
            files.add(resolve(name.strip()));
        }
        return SideBySideTable.tally(files, required(parts, what));
    }

    private static String required(String[] parts, String what) {
        if (parts.length < 2) {
            throw new BenchException("'" + what + "' names no columns", "write FILE: COLUMN, COLUMN");
        }
        return parts[1];
    }

    /** {@code NAME=TITLE:FORM}; title and form may be left out. */
    private record Column(String name, String title, String form) {
        static Column parse(String text) {
            int colon = text.lastIndexOf(':');
            String form = colon < 0 ? "plain" : text.substring(colon + 1).strip();
            String rest = colon < 0 ? text : text.substring(0, colon);
            int equals = rest.indexOf('=');
            return new Column(
                    equals < 0 ? rest : rest.substring(0, equals),
                    equals < 0 ? rest : rest.substring(equals + 1),
                    form);
        }
    }

    private String text(String what) {
        Matcher values = VALUE.matcher(what);
        StringBuilder text = new StringBuilder();
        while (values.find()) {
            values.appendReplacement(
                    text,
                    Matcher.quoteReplacement(
                            value(resolve(values.group(1)), values.group(2), values.group(3), values.group(4))));
        }
        return values.appendTail(text).append('\n').toString();
    }

    private static String value(Path results, String row, String column, String form) {
        if (row.equals("-")) {
            return Results.inWords(Results.header(results, column), form);
        }
        JsonNode rows = Results.rows(results);
        JsonNode value = Results.value(rows, Integer.parseInt(row), column, results);
        Optional<String> objection = Claims.objection(Results.read(results), rows.get(Integer.parseInt(row)), column);
        Matcher target = TARGET_FORM.matcher(form);
        if (target.matches()) {
            return Claims.verdict(value.asDouble(), Double.parseDouble(target.group(1)), objection);
        }
        return objection.orElseGet(() -> Results.inWords(value, form));
    }

    private String chart(String what, boolean draw) {
        String[] parts = what.split(":", 2);
        Matcher chart = CHART.matcher(required(parts, what).strip());
        if (!chart.matches()) {
            throw new BenchException("'" + what + "' is no chart", "write FILE: VALUE over X by SERIES to NAME.png");
        }
        Path results = resolve(parts[0].strip());
        JsonNode rows = Results.rows(results);
        Map<String, Map<String, Double>> series = new LinkedHashMap<>();
        List<String> categories = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            String category = Results.value(rows, row, chart.group(2), results).asText();
            if (!categories.contains(category)) {
                categories.add(category);
            }
            series.computeIfAbsent(
                            Results.value(rows, row, chart.group(3), results).asText(), name -> new LinkedHashMap<>())
                    .put(
                            category,
                            ColumnName.valueForPeople(
                                    chart.group(1),
                                    Results.value(rows, row, chart.group(1), results)
                                            .asDouble()));
        }
        String column = chart.group(1);
        String title = ColumnName.chartTitle(column);
        String xTitle = ColumnName.title(chart.group(2));
        if (draw) {
            Chart.bars(
                            title,
                            xTitle,
                            ColumnName.unit(column),
                            categories,
                            series.entrySet().stream()
                                    .map(one -> new Chart.Series(
                                            one.getKey(),
                                            List.of(),
                                            categories.stream()
                                                    .map(category ->
                                                            one.getValue().getOrDefault(category, 0.0))
                                                    .toList()))
                                    .toList())
                    .writePng(resolve(chart.group(4)));
        }
        return "![" + title + ", " + ColumnName.unit(column) + ", over " + xTitle + "](" + chart.group(4) + ")\n";
    }
}
