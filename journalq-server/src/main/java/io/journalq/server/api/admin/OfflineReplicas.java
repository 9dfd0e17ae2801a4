package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.PartitionImage;
import io.journalq.server.shard.OfflinePartitions;
import java.util.List;

/**
 * Reports partitions that this broker cannot serve because their files cannot be used. Any thread.
 *
 * <p>Descriptions show the replica of such a partition as offline, but still name its leader, because no other broker
 * could lead the partition. The leader's KAFKA_STORAGE_ERROR is more precise than LEADER_NOT_AVAILABLE, which Kafka
 * returns after its controller has removed the leader.
 */
public record OfflineReplicas(OfflinePartitions partitions) {
    /** The nodes of a partition's offline replicas. */
    List<Integer> of(Uuid topicId, int number, PartitionImage partition) {
        return partitions.contains(topicId, number) ? List.of(partition.leader()) : List.of();
    }

    /** Changes whenever the result of {@link #of} may change. */
    long changes() {
        return partitions.changes();
    }
}
