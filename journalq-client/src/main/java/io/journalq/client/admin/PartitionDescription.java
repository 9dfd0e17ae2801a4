package io.journalq.client.admin;

import java.util.List;

/**
 * A partition and who holds it, by broker id. Immutable.
 *
 * @param leader -1 when there is none at the moment
 * @param leaderEpoch -1 when the broker does not tell
 */
public record PartitionDescription(
        int partition, int leader, int leaderEpoch, List<Integer> replicas, List<Integer> inSyncReplicas) {
    public PartitionDescription {
        replicas = List.copyOf(replicas);
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }
}
