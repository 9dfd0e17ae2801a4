package io.journalq.server.coordinator;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * A pattern from a client, in the syntax of RE2. It has no back references and no look-around. For any pattern,
 * matching takes time proportional to the text and a bounded amount of memory. Immutable.
 */
public final class BoundedPattern {
    /** Maximum length of a pattern, in characters. The size of a compiled pattern is proportional to it. */
    public static final int LENGTH_MAX = 2_048;

    /** Maximum product of nested repetition counts. Each repetition copies the repeated part. */
    public static final int REPETITION_MAX = 1_000;

    private final Pattern pattern;

    private BoundedPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles a pattern.
     *
     * @throws IllegalArgumentException if the pattern is invalid or too large; the message says why
     */
    public static BoundedPattern compile(String text) {
        if (text.length() > LENGTH_MAX) {
            throw new IllegalArgumentException("the pattern is longer than " + LENGTH_MAX + " characters");
        }
        if (repetitions(text) > REPETITION_MAX) {
            throw new IllegalArgumentException("nested repetitions multiply to more than " + REPETITION_MAX);
        }
        try {
            return new BoundedPattern(Pattern.compile(text));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Whether a pattern exceeds the limits. False for an invalid pattern and for null. */
    public static boolean isTooLarge(String text) {
        return text != null && (text.length() > LENGTH_MAX || repetitions(text) > REPETITION_MAX);
    }

    /** Whether the whole of {@code text} matches. */
    public boolean matches(String text) {
        return pattern.matches(text);
    }

    /**
     * An upper bound of the product of counted repetitions, or any number beyond the limit. Treats all repetitions as
     * nested, and counts escaped and bracketed braces too.
     */
    private static long repetitions(String text) {
        long product = 1;
        int open = text.indexOf('{');
        while (open >= 0 && product <= REPETITION_MAX) {
            int largest = 0;
            int value = 0;
            int at = open + 1;
            while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == ',')) {
                value = text.charAt(at) == ',' ? 0 : Math.min(REPETITION_MAX + 1, value * 10 + text.charAt(at) - '0');
                largest = Math.max(largest, value);
                at++;
            }
            product *= Math.max(1, largest);
            open = text.indexOf('{', open + 1);
        }
        return product;
    }
}
