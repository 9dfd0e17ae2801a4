package io.journalq.server.metadata;

import java.util.List;
import java.util.Map;

/**
 * A topic that somebody wants. Immutable.
 *
 * @param name its name
 * @param partitions how many; -1 for the default
 * @param replicationFactor on how many nodes each; -1 for the default
 * @param assignments nodes of each partition, in place of the two numbers; empty for the broker's choice
 * @param configs what it overrides, texts by name
 */
public record TopicSpec(
        String name,
        int partitions,
        int replicationFactor,
        List<List<Integer>> assignments,
        Map<String, String> configs) {
    /** The broker's default. */
    public static final int DEFAULT = -1;
}
