package io.journalq.bench.report;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
