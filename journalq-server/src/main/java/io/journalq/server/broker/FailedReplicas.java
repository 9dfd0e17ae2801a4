package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.OfflinePartitions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The replicas of this broker whose files cannot be written any more. Any thread. */
record FailedReplicas(OfflinePartitions partitions) {
    /**
     * Those that lead or are in sync although others can take over: numbers of the partitions, by topic id. A leader that
     * nobody can replace stays, because its records can often still be read.
     *
     * @param nodeId id of this broker
     */
    Map<Uuid, List<Integer>> replaceable(int nodeId, MetadataImage image) {
        Map<Uuid, List<Integer>> found = new HashMap<>();
        partitions.numbers().forEach((topicId, numbers) -> {
            TopicImage topic = image.topic(topicId);
            List<Integer> ofTopic = numbers.stream()
                    .filter(number -> topic != null && topic.hasPartition(number))
                    .filter(number -> isReplaceable(topic.partitions().get(number), nodeId, image))
                    .toList();
            if (!ofTopic.isEmpty()) {
                found.put(topicId, ofTopic);
            }
        });
        return found;
    }

    private boolean isReplaceable(PartitionImage partition, int nodeId, MetadataImage image) {
        return partition.inSyncReplicas().contains(nodeId)
                && Stream.concat(partition.inSyncReplicas().stream(), partition.eligibleLeaders().stream())
                        .anyMatch(node -> node != nodeId && image.liveBroker(node) != null);
    }
}
