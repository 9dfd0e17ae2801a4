package io.journalq.client.group;

import java.util.Objects;

/**
 * Topics by a regular expression that the broker matches against whole names (KIP-848); topics that are created later
 * belong to it too. Immutable.
 *
 * @param expression in RE2 syntax, as {@code orders-.*}
 */
public record TopicPattern(String expression) {
    public TopicPattern {
        Objects.requireNonNull(expression, "a pattern is never null");
        if (expression.isEmpty()) {
            throw new IllegalArgumentException("an empty pattern matches nothing; use .* for every topic");
        }
    }

    /** A pattern in RE2 syntax. */
    public static TopicPattern of(String expression) {
        return new TopicPattern(expression);
    }
}
