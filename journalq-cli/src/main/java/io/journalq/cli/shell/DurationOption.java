package io.journalq.cli.shell;

import io.journalq.common.unit.Units;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a duration option. Stateless. */
public final class DurationOption implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        try {
            return Units.parseDuration(text);
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
    }
}
