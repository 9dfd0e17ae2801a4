package io.journalq.server.coordinator;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * A pattern that a client sent, in the syntax of RE2: it has no back references and no look-around, matches in time in
 * proportion to the text, and takes a bounded amount of memory, whatever the client wrote. Immutable.
 */
public final class BoundedPattern {
    /** Longest pattern, in characters: a compiled pattern's size is in proportion to it. */
    public static final int LENGTH_MAX = 2_048;

    /** Maximum product of nested repetition counts. Each repetition copies what it repeats. */
    public static final int REPETITION_MAX = 1_000;

    private final Pattern pattern;

    private BoundedPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles.
     *
     * @throws IllegalArgumentException when it is no pattern, or one that is too large; the message says what is wrong
     */
    public static BoundedPattern compile(String text) {
        if (text.length() > LENGTH_MAX) {
            throw new IllegalArgumentException("longer than " + LENGTH_MAX + " characters");
        }
        if (repetitions(text) > REPETITION_MAX) {
            throw new IllegalArgumentException("repetitions that multiply to more than " + REPETITION_MAX);
        }
        try {
            return new BoundedPattern(Pattern.compile(text));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Whether a pattern is beyond the limits, rather than no pattern at all; null is neither. */
    public static boolean isTooLarge(String text) {
        return text != null && (text.length() > LENGTH_MAX || repetitions(text) > REPETITION_MAX);
    }

    /** Whether all of {@code text} matches. */
    public boolean matches(String text) {
        return pattern.matches(text);
    }

    /**
     * What counted repetitions could multiply to, or some number beyond the limit. Too much rather than too little: as if
     * all of them were nested, and as if escaped and bracketed braces counted.
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
