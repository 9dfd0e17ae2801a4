package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** The rows of result files, and their values in words. Stateless. */
final class Results {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double THOUSAND = 1e3;
    private static final double MILLION = 1e6;

    private Results() {}

    /** The rows of a file that a command wrote with {@code --output json} or in its folder. */
    static JsonNode rows(Path file) {
        try {
            JsonNode rows = JSON.readTree(file.toFile()).get("results");
            if (rows == null || !rows.isArray()) {
                throw new BenchException(file + " holds no results", "give a file that journalq-bench wrote as JSON");
            }
            return rows;
        } catch (IOException e) {
            throw new BenchException("cannot read results from " + file, "mend the path in the document", e);
        }
    }

    /** A value of one row. */
    static JsonNode value(JsonNode rows, int row, String column, Path file) {
        JsonNode value = rows.path(row).get(column);
        if (value == null) {
            throw new BenchException(file + " has no '" + column + "' in row " + row, "mend the place in the document");
        }
        return value;
    }

    /**
     * A value in words.
     *
     * @param form {@code si} (633k, 4.0M), {@code x} (2.0×), {@code x2} (2.04×), {@code ms} (from microseconds), {@code MiB} (from bytes), or
     *     {@code plain}
     */
    static String inWords(JsonNode value, String form) {
        if (value.isNull()) {
            return "";
        }
        if (!value.isNumber()) {
            return value.asText();
        }
        double number = value.asDouble();
        return switch (form) {
            case "si" -> si(number);
            case "x" -> format("%.1f×", number);
            case "x2" -> format("%.2f×", number);
            case "ms" -> format("%.2f", number / THOUSAND);
            case "MiB" -> format("%,.0f", number / (1 << 20));
            case "plain" ->
                value.isIntegralNumber() || number == Math.rint(number)
                        ? format("%,d", Math.round(number))
                        : format("%,.1f", number);
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
