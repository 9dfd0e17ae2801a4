package io.journalq.cli.shell;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/** A place in a partition, as named on the command line. */
public sealed interface Position {
    /** Before the oldest message that is kept. */
    record Beginning() implements Position {}

    /** After the newest message. */
    record End() implements Position {}

    /** At the message with this number. */
    record Offset(long offset) implements Position {}

    /** At the first message whose timestamp is this or later, in milliseconds since 1970. */
    record Time(long timestampMs) implements Position {}

    /** What a position may look like, for help texts and errors. */
    String FORMS = "beginning, end, an offset (1500), a time (2026-01-31T12:00:00Z, 2026-01-31T12:00, 2026-01-31, "
            + "@1769860800000) or how long ago ('10m ago')";

    /**
     * Reads a position.
     *
     * @param now what "ago" counts from
     * @param zone of times that name none
     * @throws IllegalArgumentException when the text is none; the message says what one looks like
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
            if (Quantity.isDuration(span)) {
                Duration ago = Quantity.parseDuration(span);
                return new Time(Math.max(0, now.minus(ago).toEpochMilli()));
            }
            return new Time(instant(word, zone).toEpochMilli());
        } catch (DateTimeException | ArithmeticException | NumberFormatException unreadable) {
            throw new IllegalArgumentException("'" + text + "' is no position; use " + FORMS);
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
