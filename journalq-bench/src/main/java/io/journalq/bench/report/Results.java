package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.BenchException;
import io.journalq.bench.report.Claims.Range;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** The rows of result files, and their values in words. Stateless. */
final class Results {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double THOUSAND = 1e3;
    private static final double MILLION = 1e6;

    private Results() {}

    /** A file that a command wrote with {@code --output json} or in its results directory. */
    static JsonNode read(Path file) {
        try {
            return JSON.readTree(file.toFile());
        } catch (IOException e) {
            throw new BenchException("cannot read results from " + file, "fix the path in the document", e);
        }
    }

    /** The rows of a file. */
    static JsonNode rows(Path file) {
        JsonNode rows = read(file).get("results");
        if (rows == null || !rows.isArray()) {
            throw new BenchException(file + " holds no results", "use a file that journalq-bench wrote as JSON");
        }
        return rows;
    }

    /** A value that holds for a whole file, such as the JDK. */
    static JsonNode header(Path file, String name) {
        JsonNode value = read(file).get(name);
        if (value == null) {
            throw new BenchException(file + " has no '" + name + "'", "fix the place in the document");
        }
        return value;
    }

    /** A value of one row. */
    static JsonNode value(JsonNode rows, int row, String column, Path file) {
        JsonNode value = rows.path(row).get(column);
        if (value == null) {
            throw new BenchException(file + " has no '" + column + "' in row " + row, "fix the place in the document");
        }
        return value;
    }

    /**
     * A value in words.
     *
     * @param form {@code si} (633k, 4.0M), {@code x} (2.0×), {@code x2} (2.04×), {@code ms} (from microseconds),
     *     {@code MiB} (from bytes), {@code jdk} (25), {@code client} (the client's name and version), {@code callers}
     *     (number and kind), or {@code plain}; a range keeps its brackets
     */
    static String inWords(JsonNode value, String form) {
        if (value.isNull()) {
            return "";
        }
        if (!value.isNumber()) {
            return text(value.asText(), form);
        }
        return number(value.asDouble(), value.isIntegralNumber(), form);
    }

    private static String text(String text, String form) {
        Optional<Range> range = Range.parse(text);
        if (range.isPresent()) {
            return "[" + number(range.get().min(), false, form) + "–"
                    + number(range.get().max(), false, form) + "]";
        }
        return switch (form) {
            case "jdk" -> text.replaceFirst(".* (\\d+)[.+-]\\S*$", "$1");
            case "client" -> text.replaceFirst(".* with client ", "").replaceFirst("-SNAPSHOT$", "");
            case "callers" -> text.replaceFirst(", .*", "");
            default -> text;
        };
    }

    private static String number(double number, boolean integral, String form) {
        return switch (form) {
            case "si" -> si(number);
            case "x" -> format("%.1f×", number);
            case "x2" -> format("%.2f×", number);
            case "ms" -> format("%.2f", number / THOUSAND);
            case "MiB" -> format("%,.0f", number / (1 << 20));
            case "plain" ->
                integral || number == Math.rint(number) ? format("%,d", Math.round(number)) : format("%,.1f", number);
            default -> throw new BenchException("there is no form '" + form + "'", "use si, x, x2, ms, MiB or plain");
        };
    }

    private static String si(double number) {
        if (number >= MILLION) {
            return format("%.2fM", number / MILLION);
        }
        return number >= 10 * THOUSAND ? format("%.0fk", number / THOUSAND) : format("%,.0f", number);
    }

    private static String format(String form, Object number) {
        return String.format(Locale.ROOT, form, number);
    }
}
