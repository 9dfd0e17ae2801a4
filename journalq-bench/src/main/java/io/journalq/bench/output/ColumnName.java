package io.journalq.bench.output;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The names of columns in result files, such as {@code p99_us}, for people: words and milliseconds. Programs read the
 * files, so the files keep their names and microseconds. Stateless.
 */
public final class ColumnName {
    private static final Pattern PERCENTILE = Pattern.compile("\\bp(\\d{2})(\\d*)\\b");
    private static final Pattern MICROSECONDS = Pattern.compile("_us(?=_|$)");
    private static final Pattern RATE = Pattern.compile("(^|_)mps$");
    private static final Pattern NUMBER = Pattern.compile("\\d+(?:\\.\\d+)?");
    private static final BigDecimal MICROS_PER_MILLI = BigDecimal.valueOf(1_000);
    private static final MathContext THREE_DIGITS = new MathContext(3);

    private ColumnName() {}

    /** The name without its unit, such as {@code end to end 99th percentile}. */
    public static String title(String name) {
        String words = MICROSECONDS.matcher(name).replaceAll("").replace('_', ' ');
        if (RATE.matcher(name).find()) {
            words = words.equals("mps") ? "throughput" : words.substring(0, words.length() - " mps".length());
        }
        return PERCENTILE.matcher(words).replaceAll(ColumnName::percentile);
    }

    /** The title of a chart of the values, such as {@code Latency, 99th percentile}. */
    public static String chartTitle(String name) {
        String title = PERCENTILE.matcher(name.replace('_', ' ')).lookingAt() ? "latency, " + title(name) : title(name);
        return title.substring(0, 1).toUpperCase(Locale.ROOT) + title.substring(1);
    }

    /** The unit of the values as people get them, or the title of a column whose name has no unit. */
    public static String unit(String name) {
        return isMicroseconds(name) ? "milliseconds" : RATE.matcher(name).find() ? "messages per second" : title(name);
    }

    /** The name with its unit. */
    public static String inWords(String name) {
        String title = title(name);
        return isMicroseconds(name) ? title + ", ms" : RATE.matcher(name).find() ? title + ", messages/s" : title;
    }

    /** A value in the unit for people. */
    public static double valueForPeople(String name, double value) {
        return isMicroseconds(name) ? value / MICROS_PER_MILLI.doubleValue() : value;
    }

    /** A value in the unit for people. In a column of microseconds, it can also be a range such as {@code [453-2228]}. */
    static String textForPeople(String name, Object value) {
        String text = String.valueOf(value);
        return isMicroseconds(name) ? NUMBER.matcher(text).replaceAll(number -> milliseconds(number.group())) : text;
    }

    private static boolean isMicroseconds(String name) {
        return MICROSECONDS.matcher(name).find();
    }

    private static String milliseconds(String micros) {
        return new BigDecimal(micros)
                .divide(MICROS_PER_MILLI)
                .round(THREE_DIGITS)
                .stripTrailingZeros()
                .toPlainString();
    }

    private static String percentile(MatchResult found) {
        if (found.group(1).equals("50") && found.group(2).isEmpty()) {
            return "median";
        }
        return found.group(1) + (found.group(2).isEmpty() ? "" : "." + found.group(2)) + "th percentile";
    }
}
