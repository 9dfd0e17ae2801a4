package io.journalq.sim.check;

import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import java.util.SortedMap;

/** Soon after a disk has failed, another replica leads what the replica there has led, if it has all records. */
public final class FailedReplicasAreReplaced {
    private FailedReplicasAreReplaced() {}

    /** Whether no leader has files that it cannot write while another one could lead. */
    public static boolean holds(ClusterReplicas now) {
        return now.open().entrySet().stream().allMatch(entry -> holds(now.partition(entry.getKey()), entry.getValue()));
    }

    private static boolean holds(PartitionImage partition, SortedMap<Integer, ReplicaStatus> open) {
        return open.entrySet().stream()
                .noneMatch(one -> one.getValue().leads()
                        && !one.getValue().isWritable()
                        && open.entrySet().stream()
                                .anyMatch(other -> isInSync(partition, other.getKey())
                                        && other.getValue().isWritable()));
    }

    private static boolean isInSync(PartitionImage partition, int broker) {
        return partition.inSyncReplicas().contains(broker)
                || partition.eligibleLeaders().contains(broker);
    }
}
