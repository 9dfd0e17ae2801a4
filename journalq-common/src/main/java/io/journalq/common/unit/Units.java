package io.journalq.common.unit;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The grammar of durations and sizes in settings and on the command lines of all programs. Stateless. */
public final class Units {
    /** The units of durations, smallest first. */
    public static final List<String> DURATION_UNITS = List.of("ms", "s", "m", "h", "d");
    /** The units of sizes, smallest first. */
    public static final List<String> SIZE_UNITS = List.of("B", "KiB", "MiB", "GiB", "TiB");

    private static final Pattern DURATION = Pattern.compile("(\\d{1,12}) *(ms|s|m|h|d)");
    private static final Pattern SIZE = Pattern.compile("(\\d{1,18}) *(B|KiB|MiB|GiB|TiB)?");
    private static final int BITS_PER_STEP = 10;
    private static final long SIZE_STEP = 1L << BITS_PER_STEP;
    private static final long[] SIZE_STEPS = {SIZE_STEP, SIZE_STEP, SIZE_STEP, SIZE_STEP};
    private static final long[] DURATION_STEPS = {1_000, 60, 60, 24};

    private Units() {}

    /** Whether the text is a duration, see {@link #parseDuration}. */
    public static boolean isDuration(String text) {
        return DURATION.matcher(text).matches();
    }

    /**
     * Parses a duration such as {@code 500ms}, {@code 10s}, {@code 5m}, {@code 2h} or {@code 1d}.
     *
     * @throws IllegalArgumentException if the text is not a duration; the message describes the form
     */
    public static Duration parseDuration(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a duration; use a number with one of the units ms, s, m, h, d, such as 10s");
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }

    /**
     * Parses a size such as {@code 1024}, {@code 64KiB} or {@code 10GiB}. A number without a unit is in bytes.
     *
     * @throws IllegalArgumentException if the text is not a size; the message describes the form
     */
    public static long parseSizeBytes(String text) {
        Matcher matcher = SIZE.matcher(text);
        if (matcher.matches()) {
            long amount = Long.parseLong(matcher.group(1));
            int shift = BITS_PER_STEP
                    * switch (matcher.group(2) == null ? "B" : matcher.group(2)) {
                        case "B" -> 0;
                        case "KiB" -> 1;
                        case "MiB" -> 2;
                        case "GiB" -> 3;
                        default -> 4;
                    };
            if (amount <= Long.MAX_VALUE >> shift) {
                return amount << shift;
            }
        }
        throw new IllegalArgumentException(
                "'" + text + "' is not a size; use a number of bytes, or a number with one of the units B, KiB, MiB,"
                        + " GiB, TiB, such as 64KiB");
    }

    /** Formats a duration of more than 0 in the largest unit in which it is whole: {@code 5h}. */
    public static String formatDuration(long ms) {
        return format(ms, DURATION_UNITS, DURATION_STEPS);
    }

    /** Formats a size of more than 0 in the largest unit in which it is whole: {@code 64KiB}. */
    public static String formatSize(long sizeBytes) {
        return format(sizeBytes, SIZE_UNITS, SIZE_STEPS);
    }

    private static String format(long number, List<String> units, long[] steps) {
        long amount = number;
        int unit = 0;
        while (unit < steps.length && amount % steps[unit] == 0) {
            amount /= steps[unit];
            unit++;
        }
        return amount + units.get(unit);
    }
}
