package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A topic. Immutable.
 *
 * @param name the name that clients use; a deleted topic's name may come again, with another id
 * @param id names this topic and no other, ever
 * @param partitions by number
 * @param configs what the topic overrides, texts by name
 */
public record TopicImage(String name, Uuid id, List<PartitionImage> partitions, Map<String, String> configs) {
    public TopicImage {
        partitions = List.copyOf(partitions);
        configs = configs.isEmpty() ? Collections.emptyMap() : Collections.unmodifiableMap(new TreeMap<>(configs));
    }

    /** Whether there is a partition of that number. */
    public boolean hasPartition(int number) {
        return number >= 0 && number < partitions.size();
    }
}
