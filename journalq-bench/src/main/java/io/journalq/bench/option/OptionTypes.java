package io.journalq.bench.option;

import io.journalq.bench.peer.PubSubDrivers;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The types of option values. A wrong value is refused while the command line is parsed, before a broker is started or a
 * file is written. Stateless.
 */
public final class OptionTypes {
    private OptionTypes() {}

    /** A whole number of 1 or more. */
    public static final class PositiveInt implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return (int) number(text, 1, Integer.MAX_VALUE);
        }
    }

    /** A whole number of 0 or more. */
    public static final class NonNegativeInt implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return (int) number(text, 0, Integer.MAX_VALUE);
        }
    }

    /** A whole number of 1 or more, which may exceed an {@code int}. */
    public static final class PositiveLong implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return number(text, 1, Long.MAX_VALUE);
        }
    }

    /** A whole number of 0 or more, which may exceed an {@code int}. */
    public static final class NonNegativeLong implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return number(text, 0, Long.MAX_VALUE);
        }
    }

    /** The name of a broker with a client that drives it. */
    public static final class BrokerName implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (!PubSubDrivers.NAMES.contains(text)) {
                throw new TypeConversionException(
                        "'" + text + "' is not a broker; use one of " + String.join(", ", PubSubDrivers.NAMES));
            }
            return text;
        }
    }

    /** The constant whose {@code toString} is {@code text}, in upper or lower case. */
    public static <E extends Enum<E>> E constant(Class<E> type, String text) {
        for (E constant : type.getEnumConstants()) {
            if (constant.toString().equalsIgnoreCase(text)) {
                return constant;
            }
        }
        throw new TypeConversionException("'" + text + "' is not one of "
                + Arrays.stream(type.getEnumConstants())
                        .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", ")));
    }

    private static long number(String text, long min, long max) {
        long number;
        try {
            number = Long.parseLong(text);
        } catch (NumberFormatException wrong) {
            throw new TypeConversionException("'" + text + "' is not a whole number");
        }
        if (number < min) {
            throw new TypeConversionException("'" + text + "' is too small; use " + min + " or more");
        }
        if (number > max) {
            throw new TypeConversionException("'" + text + "' is too large; use " + max + " or less");
        }
        return number;
    }
}
