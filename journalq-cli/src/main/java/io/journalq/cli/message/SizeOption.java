package io.journalq.cli.message;

import io.journalq.common.unit.Units;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option that is a size of less than 2 GiB, in bytes or with a unit. Stateless. */
final class SizeOption implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        try {
            return Math.toIntExact(Units.parseSizeBytes(text));
        } catch (ArithmeticException tooLarge) {
            throw new TypeConversionException("'" + text + "' is too large; use less than 2GiB");
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
    }
}
