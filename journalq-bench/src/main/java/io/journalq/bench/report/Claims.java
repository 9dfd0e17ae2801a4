package io.journalq.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decides whether results support a quoted difference: both sides need at least {@value #MIN_REPETITIONS} repetitions that
 * have passed their checks, and their ranges must not overlap. Stateless.
 */
final class Claims {
    static final int MIN_REPETITIONS = 5;

    static final String FAILED = "not claimed: a check failed";

    private static final String PASSED = "passed";

    private static final Pattern REPETITIONS = Pattern.compile("(\\d+) repetitions?");

    private Claims() {}

    /** The reason why a difference must not be quoted; empty when it may be quoted. */
    static Optional<String> objection(int repetitions, Range one, Range other) {
        if (repetitions < MIN_REPETITIONS) {
            return Optional.of("not claimed: " + repetitions + (repetitions == 1 ? " repetition" : " repetitions"));
        }
        return one.overlaps(other) ? Optional.of("not claimed: ranges overlap") : Optional.empty();
    }

    /**
     * The reason why a column of a row must not be quoted; empty when it may be quoted or is not a difference.
     *
     * @param file the result file that holds the row
     */
    static Optional<String> objection(JsonNode file, JsonNode row, String column) {
        String[] sides =
                switch (column) {
                    case "ratio" -> sides(row.path("case").asText().equals("broker-cpu") ? "broker_cpu_us" : "qps");
                    case "consumed_ratio" -> sides("consumed_per_s");
                    case "journalq_of_built" -> new String[] {"journalq_qps", "built_only_qps"};
                    case "journalq_of_checked" -> new String[] {"journalq_qps", "built_and_checked_qps"};
                    default -> null;
                };
        if (sides == null) {
            return Optional.empty();
        }
        if (!passed(row)) {
            // The first failed run ends a case, so that it can also have fewer repetitions than the file says.
            return Optional.of(FAILED);
        }
        Optional<Range> one = range(row, sides[0]);
        Optional<Range> other = range(row, sides[1]);
        return one.isEmpty() || other.isEmpty()
                ? Optional.of("not claimed: no ranges")
                : objection(repetitions(file), one.get(), other.get());
    }

    /** Whether a row or a run has passed its check, or has none. */
    static boolean passed(JsonNode row) {
        return row.path("check").asText(PASSED).equals(PASSED);
    }

    /** The range that stands beside a value of a row. */
    static Optional<Range> range(JsonNode row, String column) {
        return Range.parse(row.path(column + "_range").asText());
    }

    /** How often each value of a file was measured; 1 when the file does not state it. */
    static int repetitions(JsonNode file) {
        if (file.has("repetitions")) {
            return file.get("repetitions").asInt();
        }
        Matcher method = REPETITIONS.matcher(file.path("method").asText());
        return method.find() ? Integer.parseInt(method.group(1)) : 1;
    }

    /** Whether a ratio meets a target, or why that is not claimed. */
    static String verdict(double ratio, double target, Optional<String> objection) {
        return objection.orElse(ratio >= target ? "met" : "missed");
    }

    private static String[] sides(String measure) {
        return new String[] {"journalq_" + measure, "peer_" + measure};
    }

    /** Minimum and maximum of repeated measurements. Immutable. */
    record Range(double min, double max) {
        private static final Pattern TEXT = Pattern.compile("\\[(\\d+(?:\\.\\d+)?)-(\\d+(?:\\.\\d+)?)]");

        /** Reads {@code [1.5-2.5]}; empty when the text is not a range. */
        static Optional<Range> parse(String text) {
            Matcher range = TEXT.matcher(text);
            return range.matches()
                    ? Optional.of(new Range(Double.parseDouble(range.group(1)), Double.parseDouble(range.group(2))))
                    : Optional.empty();
        }

        static Range of(List<Double> values) {
            return new Range(
                    values.stream().mapToDouble(value -> value).min().orElseThrow(),
                    values.stream().mapToDouble(value -> value).max().orElseThrow());
        }

        boolean overlaps(Range other) {
            return min <= other.max && other.min <= max;
        }
    }
}
