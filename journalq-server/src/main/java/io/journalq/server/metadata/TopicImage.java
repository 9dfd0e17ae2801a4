package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.index.BlockList;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A topic. Immutable.
 *
 * @param name the name that clients use; after a deletion it can be reused with another id
 * @param id identifies this topic permanently
 * @param partitions by number
 * @param configs the topic's overrides, values by name
 */
public record TopicImage(String name, Uuid id, List<PartitionImage> partitions, Map<String, String> configs) {
    public TopicImage {
        partitions = BlockList.copyOf(partitions);
        configs = configs.isEmpty() ? Collections.emptyMap() : Collections.unmodifiableMap(new TreeMap<>(configs));
    }

    /** Whether there is a partition with this number. */
    public boolean hasPartition(int number) {
        return number >= 0 && number < partitions.size();
    }

    /** Whether partitions have several replicas. */
    public boolean isReplicated() {
        return partitions.stream().anyMatch(partition -> partition.replicas().size() > 1);
    }
}
