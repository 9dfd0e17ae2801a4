package io.journalq.cli.group;

import io.journalq.client.Admin;
import io.journalq.client.admin.TopicListing;
import io.journalq.common.id.TopicPartition;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Determines which of the partitions that a group knows still exist. Stateless. */
final class Partitions {
    private Partitions() {}

    /** Returns the partitions of existing topics, in the same order. */
    static Set<TopicPartition> existing(Admin admin, Collection<TopicPartition> partitions) {
        Map<String, Integer> counts = new HashMap<>();
        for (TopicListing topic : admin.listTopics()) {
            counts.put(topic.name(), topic.partitionCount());
        }
        Set<TopicPartition> existing = new LinkedHashSet<>();
        for (TopicPartition partition : partitions) {
            if (partition.partition() < counts.getOrDefault(partition.topic(), 0)) {
                existing.add(partition);
            }
        }
        return existing;
    }
}
