package io.journalq.server.metadata;

import java.util.List;

/**
 * The nodes of a partition. Immutable.
 *
 * @param leader the leading node
 * @param leaderEpoch incremented with every change of leader, and with every start of the leader
 * @param replicas nodes that hold the partition
 * @param inSyncReplicas nodes that have all acknowledged records
 */
public record PartitionImage(int leader, int leaderEpoch, List<Integer> replicas, List<Integer> inSyncReplicas) {
    public PartitionImage {
        replicas = List.copyOf(replicas);
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }

    /** The same leader in the next epoch. */
    PartitionImage inNextEpoch() {
        return new PartitionImage(leader, leaderEpoch + 1, replicas, inSyncReplicas);
    }
}
