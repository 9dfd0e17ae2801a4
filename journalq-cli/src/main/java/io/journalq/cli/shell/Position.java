package io.journalq.cli.shell;

import io.journalq.common.unit.Units;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/** A position in a partition, as given on the command line. */
public sealed interface Position {
    /** The first message of the partition. */
    record Beginning() implements Position {}

    /** The end of the partition. */
    record End() implements Position {}

    /** The message with this offset. */
    record Offset(long offset) implements Position {}

    /** The first message whose timestamp is at or after this, in milliseconds since 1970 UTC: 0 or more. */
    record Time(long timestampMs) implements Position {
        /** Returns the time a duration ago; 0 for one before 1970, however long ago it is. */
        public static Time ago(Duration duration, Instant now) {
            try {
                return new Time(Math.max(0, now.minus(duration).toEpochMilli()));
            } catch (DateTimeException | ArithmeticException beforeAllTimes) {
                return new Time(0);
            }
        }
    }

    /** The forms of a position, for help texts and errors. */
    String FORMS = "beginning, end, an offset (1500), a time (2026-01-31T12:00:00Z, 2026-01-31T12:00, 2026-01-31, "
            + "@1769860800000) or how long ago ('10m ago')";

    /**
     * Parses a position.
     *
     * @param now the time from which "ago" counts
     * @param zone the zone of times without one
     * @throws IllegalArgumentException if the text is not a position; the message lists the forms
     */
    static Position parse(String text, Instant now, ZoneId zone) {
        String word = text.strip();
        try {
            if (word.equals("beginning")) {
                return new Beginning();
            }
            if (word.equals("end")) {
                return new End();
            }
            if (word.matches("\\d+")) {
                return new Offset(Long.parseLong(word));
            }
            if (word.matches("@\\d+")) {
                return new Time(Long.parseLong(word.substring(1)));
            }
            String span =
                    word.endsWith("ago") ? word.substring(0, word.length() - 3).strip() : word;
            if (Units.isDuration(span)) {
                return Time.ago(Units.parseDuration(span), now);
            }
            // The protocol has other meanings for negative times.
            return new Time(Math.max(0, instant(word, zone).toEpochMilli()));
        } catch (DateTimeException | ArithmeticException | NumberFormatException unreadable) {
            throw new IllegalArgumentException("'" + text + "' is not a position; use " + FORMS);
        }
    }

    private static Instant instant(String word, ZoneId zone) {
        if (!word.contains("T")) {
            return LocalDate.parse(word).atStartOfDay(zone).toInstant();
        }
        return word.matches(".*(Z|[+-]\\d\\d(:?\\d\\d)?)")
                ? OffsetDateTime.parse(word).toInstant()
                : LocalDateTime.parse(word).atZone(zone).toInstant();
    }
}
