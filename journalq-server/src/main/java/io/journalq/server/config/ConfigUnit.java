package io.journalq.server.config;

import io.journalq.common.unit.Units;
import java.util.List;
import java.util.regex.Pattern;

/** The unit of a number, which its text may name. */
public enum ConfigUnit {
    NONE(List.of()),
    BYTES(Units.SIZE_UNITS),
    MILLISECONDS(Units.DURATION_UNITS);

    private static final Pattern PLAIN = Pattern.compile("[+-]?\\d+");

    @SuppressWarnings("ImmutableEnumChecker") // the lists are immutable
    private final List<String> suffixes;

    ConfigUnit(List<String> suffixes) {
        this.suffixes = suffixes;
    }

    /** The suffixes that the text of a number may have, smallest unit first. */
    List<String> suffixes() {
        return suffixes;
    }

    /**
     * Parses a number, alone or with a suffix.
     *
     * @throws IllegalArgumentException if it is not a number
     * @throws ArithmeticException if it is too large
     */
    long parse(String text) {
        if (this == NONE || PLAIN.matcher(text).matches()) {
            return Long.parseLong(text);
        }
        return this == BYTES
                ? Units.parseSizeBytes(text)
                : Units.parseDuration(text).toMillis();
    }

    /** Formats a number in the largest unit in which it is whole; without a unit if that is the smallest one. */
    String format(long number) {
        String plain = Long.toString(number);
        if (this == NONE || number <= 0) {
            return plain;
        }
        String suffixed = this == BYTES ? Units.formatSize(number) : Units.formatDuration(number);
        return suffixed.equals(plain + suffixes.get(0)) ? plain : suffixed;
    }
}
