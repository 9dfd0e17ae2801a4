package io.journalq.client.internal.check;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/** Checks arguments. Messages name the parameter or setting of the public API. Stateless. */
public final class Arguments {
    private static final Duration MAX_MILLIS = Duration.ofMillis(Integer.MAX_VALUE);
    private static final Duration MAX_NANOS = Duration.ofNanos(Long.MAX_VALUE / 2);

    private Arguments() {}

    /** Returns the value. Throws if it is null. */
    public static <T> T notNull(T value, String name) {
        if (value == null) {
            throw new NullPointerException(name + " must not be null");
        }
        return value;
    }

    /** Returns the values. Throws if the collection or one of its elements is null. */
    public static <C extends Collection<?>> C noNulls(C values, String name) {
        for (Object value : notNull(values, name)) {
            if (value == null) {
                throw new NullPointerException(name + " must not contain null");
            }
        }
        return values;
    }

    /** Returns the map. Throws if the map, a key or a value is null. */
    public static <M extends Map<?, ?>> M noNulls(M values, String name) {
        for (Map.Entry<?, ?> entry : notNull(values, name).entrySet()) {
            if (entry.getKey() == null || entry.getValue() == null) {
                throw new NullPointerException(name + " must not contain a null key or value");
            }
        }
        return values;
    }

    /** Returns the text. Throws if it is null or blank. */
    public static String notEmpty(String value, String name) {
        if (notNull(value, name).isBlank()) {
            throw new IllegalArgumentException(name + " is empty; leave it out, or set a value");
        }
        return value;
    }

    /** Returns the value. Throws if it is less than 1. */
    public static int positive(int value, String name) {
        return (int) atLeast(1, value, name);
    }

    /** Returns the value. Throws if it is less than 1. */
    public static long positive(long value, String name) {
        return atLeast(1, value, name);
    }

    /** Returns the value. Throws if it is negative. */
    public static int notNegative(int value, String name) {
        return (int) atLeast(0, value, name);
    }

    /**
     * Returns a duration in milliseconds, rounded up. Throws if it is not positive, or longer than {@link
     * Integer#MAX_VALUE} ms (24 days), which is the limit of the protocol.
     */
    public static int positiveMillis(Duration duration, String name) {
        if (notNull(duration, name).isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(name + " is " + duration + "; use more than zero");
        }
        return millis(duration, name);
    }

    /** Like {@link #positiveMillis}, but accepts zero. */
    public static int millis(Duration duration, String name) {
        notNegative(duration, name);
        if (duration.compareTo(MAX_MILLIS) > 0) {
            throw new IllegalArgumentException(name + " is " + duration + "; use at most " + MAX_MILLIS);
        }
        return (int) duration.plusNanos(999_999).toMillis();
    }

    /** Returns the duration. Throws if it is null or negative. */
    public static Duration notNegative(Duration duration, String name) {
        if (notNull(duration, name).isNegative()) {
            throw new IllegalArgumentException(name + " is " + duration + "; use zero or more");
        }
        return duration;
    }

    /** Returns a duration in nanoseconds. A very long one, such as for a wait without end, becomes 146 years. */
    public static long nanos(Duration duration, String name) {
        return (notNull(duration, name).compareTo(MAX_NANOS) > 0 ? MAX_NANOS : duration).toNanos();
    }

    private static long atLeast(long smallest, long value, String name) {
        if (value < smallest) {
            throw new IllegalArgumentException(name + " is " + value + "; use " + smallest + " or more");
        }
        return value;
    }
}
