package io.journalq.client.internal.membership;

import io.journalq.client.group.TopicPattern;
import java.util.List;

/**
 * The topics to which a member subscribes. Immutable.
 *
 * @param topics the names of topics; empty with a pattern
 * @param pattern null with names
 */
record Subscription(List<String> topics, TopicPattern pattern) {
    Subscription {
        topics = List.copyOf(topics);
    }
}
