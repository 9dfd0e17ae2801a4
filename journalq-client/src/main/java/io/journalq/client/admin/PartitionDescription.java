package io.journalq.client.admin;

import java.util.List;

/**
 * A partition with the ids of the brokers that have its replicas. Immutable.
 *
 * @param leader the id of the leader, or -1 if there is none
 * @param leaderEpoch the leader epoch, or -1 if the broker does not report it
 */
public record PartitionDescription(
        int partition, int leader, int leaderEpoch, List<Integer> replicas, List<Integer> inSyncReplicas) {
    public PartitionDescription {
        replicas = List.copyOf(replicas);
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }
}
