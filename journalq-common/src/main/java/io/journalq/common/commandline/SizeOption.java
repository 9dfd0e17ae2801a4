package io.journalq.common.commandline;

import io.journalq.common.unit.Units;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option that is a size of 1 or more, in bytes or with a unit. Stateless. */
public final class SizeOption implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
        long sizeBytes;
        try {
            sizeBytes = Units.parseSizeBytes(text);
        } catch (IllegalArgumentException wrong) {
            throw new TypeConversionException(wrong.getMessage());
        }
        if (sizeBytes == 0) {
            throw new TypeConversionException("'" + text + "' is too small; use 1 or more");
        }
        return sizeBytes;
    }

    /** Converts an option that is the size of something in memory: 1 byte or more, and less than 2 GiB. Stateless. */
    public static final class InMemory implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            long sizeBytes = new SizeOption().convert(text);
            if (sizeBytes > Integer.MAX_VALUE) {
                throw new TypeConversionException("'" + text + "' is too large; use less than 2GiB");
            }
            return (int) sizeBytes;
        }
    }
}
