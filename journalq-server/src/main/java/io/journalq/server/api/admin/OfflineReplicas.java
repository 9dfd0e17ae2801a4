package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.PartitionImage;
import io.journalq.server.shard.OfflinePartitions;
import java.util.List;

/**
 * How clients are told of partitions that this broker cannot serve, as their files cannot be used. Any thread.
 *
 * <p>Descriptions show such a partition's replica as offline and still name its leader: nobody else could lead it, and the
 * leader's KAFKA_STORAGE_ERROR tells a client more than LEADER_NOT_AVAILABLE, which Kafka's controller answers with once it
 * has taken the leadership away.
 */
public record OfflineReplicas(OfflinePartitions partitions) {
    /** The offline replicas of a partition, by their nodes. */
    List<Integer> of(Uuid topicId, int number, PartitionImage partition) {
        return partitions.contains(topicId, number) ? List.of(partition.leader()) : List.of();
    }

    /** Another number whenever {@link #of} may say something else. */
    long changes() {
        return partitions.changes();
    }
}
