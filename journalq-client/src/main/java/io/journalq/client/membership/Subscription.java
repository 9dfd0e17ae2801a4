package io.journalq.client.membership;

import io.journalq.client.group.TopicPattern;
import java.util.List;

/**
 * What a member wants to read. Immutable.
 *
 * @param topics by name; empty with a pattern
 * @param pattern null with names
 */
record Subscription(List<String> topics, TopicPattern pattern) {
    Subscription {
        topics = List.copyOf(topics);
    }
}
