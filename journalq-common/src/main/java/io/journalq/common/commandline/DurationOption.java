package io.journalq.common.commandline;

import io.journalq.common.unit.Units;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option that is a duration, which may be 0. Stateless. */
public final class DurationOption implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        try {
            return Units.parseDuration(text);
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
    }

    /** Converts an option that is a duration of more than 0 and at most 365 days. Stateless. */
    public static final class Positive implements ITypeConverter<Duration> {
        private static final int MAX_DAYS = 365;

        @Override
        public Duration convert(String text) {
            Duration duration = new DurationOption().convert(text);
            if (duration.isZero() || duration.compareTo(Duration.ofDays(MAX_DAYS)) > 0) {
                throw new TypeConversionException("'" + text + "' is out of range; use 1ms to " + MAX_DAYS + "d");
            }
            return duration;
        }
    }
}
