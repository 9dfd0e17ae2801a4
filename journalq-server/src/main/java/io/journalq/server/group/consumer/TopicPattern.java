package io.journalq.server.group.consumer;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A pattern of topic names in the syntax of RE2 (KIP-848): it has no back references and no look-around, and matches in
 * time in proportion to the text, whatever the pattern. Immutable.
 */
final class TopicPattern {
    /** Longest pattern, in characters: a compiled pattern's size is in proportion to it. */
    static final int LENGTH_MAX = 2_048;
    /** Largest product of nested repetition counts, each of which copies what it repeats. */
    static final int REPETITION_MAX = 1_000;

    private final Pattern pattern;

    private TopicPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles.
     *
     * @throws IllegalArgumentException when it is no pattern, or one that is too large; the message says what is wrong
     */
    static TopicPattern compile(String text) {
        if (text.length() > LENGTH_MAX) {
            throw new IllegalArgumentException("longer than " + LENGTH_MAX + " characters");
        }
        checkRepetitions(text);
        try {
            return new TopicPattern(Pattern.compile(text));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** The names of those topics whose whole name matches. */
    SortedSet<String> matches(Collection<Topics.Topic> topics) {
        SortedSet<String> names = new TreeSet<>();
        for (Topics.Topic topic : topics) {
            if (pattern.matches(topic.name())) {
                names.add(topic.name());
            }
        }
        return names;
    }

    /**
     * Refuses counted repetitions that could multiply to more than the limit. Counts too much rather than too little: as if
     * all of them were nested, and as if escaped and bracketed braces counted.
     */
    private static void checkRepetitions(String text) {
        long product = 1;
        int open = text.indexOf('{');
        while (open >= 0) {
            int largest = 0;
            int value = 0;
            int at = open + 1;
            while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == ',')) {
                value = text.charAt(at) == ',' ? 0 : Math.min(REPETITION_MAX + 1, value * 10 + text.charAt(at) - '0');
                largest = Math.max(largest, value);
                at++;
            }
            product *= Math.max(1, largest);
            if (product > REPETITION_MAX) {
                throw new IllegalArgumentException("repetitions that multiply to more than " + REPETITION_MAX);
            }
            open = text.indexOf('{', open + 1);
        }
    }
}
