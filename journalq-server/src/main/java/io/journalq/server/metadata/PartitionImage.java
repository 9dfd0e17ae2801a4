package io.journalq.server.metadata;

import java.util.List;

/**
 * Who holds a partition. Immutable.
 *
 * @param leader node that leads
 * @param leaderEpoch grows with every change of leader, and with every start of the one that leads
 * @param replicas nodes that hold the partition
 * @param inSyncReplicas those that have all that is acknowledged
 */
public record PartitionImage(int leader, int leaderEpoch, List<Integer> replicas, List<Integer> inSyncReplicas) {
    public PartitionImage {
        replicas = List.copyOf(replicas);
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }

    /** The same, led by the same node in the next epoch. */
    PartitionImage inNextEpoch() {
        return new PartitionImage(leader, leaderEpoch + 1, replicas, inSyncReplicas);
    }
}
