package io.journalq.cli.shell;

import java.time.Duration;
import java.util.Locale;

/** Formats durations, sizes and counts. */
public final class Quantity {
    private static final String[] SIZE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    private static final double BINARY_STEP = 1024.0;

    private Quantity() {}

    /** Formats a size with its unit: {@code 512 B}, {@code 1.5 MiB}. */
    public static String size(long sizeBytes) {
        double size = sizeBytes;
        int unit = 0;
        while (size >= BINARY_STEP && unit < SIZE_UNITS.length - 1) {
            size /= BINARY_STEP;
            unit++;
        }
        return unit == 0
                ? sizeBytes + " " + SIZE_UNITS[0]
                : String.format(Locale.ROOT, "%.1f %s", size, SIZE_UNITS[unit]);
    }

    /** Formats a count with thousands separators: {@code 1,234,567}. */
    public static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** Formats a count with a noun: {@code 1 message}, {@code 1,200 messages}. */
    public static String count(long count, String singular) {
        return count(count) + " " + singular + (count == 1 ? "" : "s");
    }

    /**
     * Formats a duration in its two largest units: {@code 850 ms}, {@code 3.2 s}, {@code 5 min 10 s}, {@code 2 d 4 h}.
     */
    public static String duration(Duration duration) {
        long ms = duration.toMillis();
        if (ms < 1_000) {
            return ms + " ms";
        }
        if (duration.toMinutes() == 0) {
            return String.format(Locale.ROOT, "%.1f s", ms / 1e3);
        }
        if (duration.toHours() == 0) {
            return duration.toMinutes() + " min " + duration.toSecondsPart() + " s";
        }
        if (duration.toDays() == 0) {
            return duration.toHours() + " h " + duration.toMinutesPart() + " min";
        }
        return duration.toDays() + " d " + duration.toHoursPart() + " h";
    }
}
