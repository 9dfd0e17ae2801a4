package io.journalq.client.group;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * A regular expression that selects topics. The broker matches it against whole names (KIP-848), including those of
 * topics created later. Immutable.
 *
 * @param expression the expression in RE2 syntax, such as {@code orders-.*}
 */
public record TopicPattern(String expression) {
    public TopicPattern {
        notNull(expression, "expression");
        if (expression.isEmpty()) {
            throw new IllegalArgumentException("an empty pattern matches nothing; use .* for every topic");
        }
    }

    /** Creates a pattern from an expression in RE2 syntax. */
    public static TopicPattern of(String expression) {
        return new TopicPattern(expression);
    }
}
