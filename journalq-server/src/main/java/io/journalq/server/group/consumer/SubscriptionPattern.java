package io.journalq.server.group.consumer;

import io.journalq.server.coordinator.BoundedPattern;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;

/** A pattern of topic names in the syntax of RE2 (KIP-848). Immutable. */
final class SubscriptionPattern {
    private final BoundedPattern pattern;

    private SubscriptionPattern(BoundedPattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles a pattern.
     *
     * @throws IllegalArgumentException if the pattern is invalid or too large; the message says why
     */
    static SubscriptionPattern compile(String text) {
        return new SubscriptionPattern(BoundedPattern.compile(text));
    }

    /** The names of the topics whose whole name matches. */
    SortedSet<String> matches(Collection<Topics.Topic> topics) {
        SortedSet<String> names = new TreeSet<>();
        for (Topics.Topic topic : topics) {
            if (pattern.matches(topic.name())) {
                names.add(topic.name());
            }
        }
        return names;
    }
}
