package io.journalq.sim.check;

import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;

/**
 * Soon after a disk has failed, the replica there neither leads nor is in sync, if another one has all records. It stays
 * out until its broker was restarted.
 */
public final class FailedReplicasAreReplaced {
    private FailedReplicasAreReplaced() {}

    /** A replica with files that its broker cannot write. */
    public record Failed(ClusterReplicas.Id partition, int broker) {}

    /** The failed replicas that neither lead nor are in sync. */
    public static Set<Failed> out(ClusterReplicas now) {
        Set<Failed> out = new HashSet<>();
        now.open()
                .forEach((id, open) -> open.forEach((broker, replica) -> {
                    if (!replica.isWritable()
                            && !replica.leads()
                            && !now.partition(id).inSyncReplicas().contains(broker)) {
                        out.add(new Failed(id, broker));
                    }
                }));
        return out;
    }

    /** Whether no leader and no in-sync replica has files that it cannot write, while another one could lead. */
    public static boolean holds(ClusterReplicas now) {
        return now.open().entrySet().stream().allMatch(entry -> holds(now.partition(entry.getKey()), entry.getValue()));
    }

    private static boolean holds(PartitionImage partition, SortedMap<Integer, ReplicaStatus> open) {
        return open.entrySet().stream()
                .noneMatch(one -> !one.getValue().isWritable()
                        && (one.getValue().leads() || partition.inSyncReplicas().contains(one.getKey()))
                        && open.entrySet().stream()
                                .anyMatch(other -> isInSync(partition, other.getKey())
                                        && other.getValue().isWritable()));
    }

    private static boolean isInSync(PartitionImage partition, int broker) {
        return partition.inSyncReplicas().contains(broker)
                || partition.eligibleLeaders().contains(broker);
    }
}
