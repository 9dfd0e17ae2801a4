package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.PartitionImage;
import java.util.List;

/**
 * Knows which partitions this broker cannot serve, as their files cannot be used; the shards know it. Any thread.
 *
 * <p>Descriptions show such a partition's replica as offline and still name its leader: nobody else could lead it, and the
 * leader's KAFKA_STORAGE_ERROR tells a client more than LEADER_NOT_AVAILABLE, which Kafka's controller answers with once it
 * has taken the leadership away.
 */
@FunctionalInterface
public interface OfflineReplicas {
    boolean isOffline(Uuid topicId, int partition);

    /** The offline replicas of a partition, by their nodes. */
    default List<Integer> of(Uuid topicId, int number, PartitionImage partition) {
        return isOffline(topicId, number) ? List.of(partition.leader()) : List.of();
    }
}
