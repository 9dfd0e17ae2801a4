package io.journalq.server.broker;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.LocalPartitions;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Deletes the files of partitions that left this broker while it did not run, or just before it ended.
 *
 * @param stored the names of the directories of partitions when the broker started
 */
record LeftPartitions(LocalPartitions partitions, Set<String> stored) {
    /** Deletes the partitions that have moved to other brokers. */
    void deleteMoved(MetadataImage image, int nodeId) {
        for (TopicImage topic : image.topics()) {
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                boolean isHere = topic.partitions().get(partition).replicas().contains(nodeId);
                if (!isHere && isStored(topic, partition)) {
                    partitions.deleteMoved(topic, partition);
                }
            }
        }
    }

    /**
     * Deletes the partitions of topics that were deleted. Those that are in the image are deleted when it changes.
     *
     * @return the names of the directories of all partitions of these topics and of those in the image
     */
    Set<String> deleteRemoved(MetadataImage image, Collection<TopicImage> removed) {
        List<TopicImage> topics = removed.stream()
                .filter(topic -> image.topic(topic.id()) == null)
                .toList();
        for (TopicImage topic : topics) {
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                if (isStored(topic, partition)) {
                    partitions.deleteRemoved(topic, partition);
                }
            }
        }
        Set<String> names = new HashSet<>();
        addDirectories(image.topics(), names);
        addDirectories(topics, names);
        return names;
    }

    private boolean isStored(TopicImage topic, int partition) {
        return stored.contains(StoredPartition.directoryName(topic.id(), partition));
    }

    private static void addDirectories(Iterable<TopicImage> topics, Set<String> names) {
        for (TopicImage topic : topics) {
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                names.add(StoredPartition.directoryName(topic.id(), partition));
            }
        }
    }
}
