package io.journalq.server.metadata;

import java.util.List;
import java.util.Map;

/**
 * The specification of a topic to create. Immutable.
 *
 * @param name its name
 * @param partitions number of partitions; -1 for the default
 * @param replicationFactor number of nodes for each partition; -1 for the default
 * @param assignments nodes of each partition, instead of the two numbers; empty for the broker's choice
 * @param configs the topic's overrides, values by name
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
