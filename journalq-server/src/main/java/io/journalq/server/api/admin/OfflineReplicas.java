package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.OfflinePartitions;
import java.util.List;

/**
 * Reports the replicas that no broker serves: those of brokers that are not live, and those of this broker whose files
 * cannot be used. Any thread.
 *
 * <p>Descriptions show the replica of such a partition as offline, but still name its leader as long as no other broker
 * can lead the partition. The leader's KAFKA_STORAGE_ERROR is more precise than LEADER_NOT_AVAILABLE, which Kafka
 * returns after its controller has removed the leader.
 *
 * @param nodeId id of this broker
 */
public record OfflineReplicas(int nodeId, OfflinePartitions partitions) {
    /** The nodes of a partition's offline replicas. */
    List<Integer> of(MetadataImage image, Uuid topicId, int number) {
        boolean offlineHere = partitions.contains(topicId, number);
        return image.topic(topicId).partitions().get(number).replicas().stream()
                .filter(node -> image.liveBroker(node) == null || (offlineHere && node == nodeId))
                .toList();
    }

    /** Changes whenever the result of {@link #of} may change for the same image. */
    long changes() {
        return partitions.changes();
    }
}
