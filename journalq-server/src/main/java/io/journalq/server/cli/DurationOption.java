package io.journalq.server.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a duration option. Stateless. */
final class DurationOption implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        try {
            return Quantity.parseDuration(text);
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
    }
}
