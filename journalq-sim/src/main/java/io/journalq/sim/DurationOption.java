package io.journalq.sim;

import io.journalq.common.unit.Units;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option that is a duration of more than 0 and at most {@link #MAX_DAYS}. Stateless. */
final class DurationOption implements ITypeConverter<Duration> {
    private static final int MAX_DAYS = 365;

    @Override
    public Duration convert(String text) {
        try {
            Duration duration = Units.parseDuration(text);
            if (!duration.isZero() && duration.compareTo(Duration.ofDays(MAX_DAYS)) <= 0) {
                return duration;
            }
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
        throw new TypeConversionException("'" + text + "' is out of range; use 1ms to " + MAX_DAYS + "d");
    }
}
