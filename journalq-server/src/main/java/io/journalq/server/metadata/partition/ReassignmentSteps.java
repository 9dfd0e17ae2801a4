package io.journalq.server.metadata.partition;

import io.journalq.server.metadata.partition.LeaderElection.Brokers;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides how the replicas of a partition change (KIP-455). First, the partition has the old and the new replicas. When
 * all new ones are in sync, the old ones may leave, and if one of these leads, another replica becomes the leader at the
 * same time. Stateless.
 *
 * <p>When a replica leaves, the next leader epoch begins. A fetch that this replica has sent before is then refused, so
 * that it cannot count for an empty replica that returns to the same node later.
 */
public final class ReassignmentSteps {
    private ReassignmentSteps() {}

    /**
     * Begins to move a partition to other nodes. Nodes that an unfinished reassignment was adding, and that are not
     * among them, leave at once.
     *
     * @param target the nodes that are the replicas in the end, the preferred leader first
     * @param requiredSize number of in-sync replicas without which nothing is acknowledged
     * @return the partition afterwards; null if no replica that is in sync or eligible would remain
     */
    public static PartitionImage begin(
            PartitionImage partition, List<Integer> target, int requiredSize, Brokers brokers) {
        List<Integer> original = partition.originalReplicas();
        List<Integer> removing = without(original, target);
        List<Integer> all = new ArrayList<>(target);
        all.addAll(removing);
        return changed(partition, all, new Reassignment(without(target, original), removing), requiredSize, brokers);
    }

    /**
     * Returns to the replicas that the partition had before the reassignment.
     *
     * @param requiredSize as in {@link #begin}
     * @return the partition afterwards; null if no replica that is in sync or eligible would remain
     */
    public static PartitionImage cancel(PartitionImage partition, int requiredSize, Brokers brokers) {
        return changed(partition, partition.originalReplicas(), Reassignment.NONE, requiredSize, brokers);
    }

    /**
     * The in-sync replicas that remain if nodes leave at once which may have the only copy of acknowledged records; empty
     * if no such node leaves.
     *
     * @param target as in {@link #begin}; null for {@link #cancel}
     */
    public static List<Integer> needed(PartitionImage partition, List<Integer> target) {
        List<Integer> adding = partition.reassignment().adding();
        List<Integer> leaving = target == null ? adding : without(adding, target);
        boolean dropsCopy = leaving.stream()
                .anyMatch(node -> partition.inSyncReplicas().contains(node) || mayBeNewest(partition, node));
        return dropsCopy ? without(partition.inSyncReplicas(), leaving) : List.of();
    }

    /** Whether a node outside the in-sync replicas may have the only copy of the newest acknowledged records. */
    private static boolean mayBeNewest(PartitionImage partition, int node) {
        return partition.eligibleLeaders().contains(node)
                || partition.lastKnownEligible().contains(node);
    }

    /**
     * Whether all new replicas are in sync, and enough of the target replicas for an acknowledgement.
     *
     * @param requiredSize number of in-sync replicas without which nothing is acknowledged afterwards
     */
    public static boolean canComplete(PartitionImage partition, int requiredSize) {
        List<Integer> inSync = partition.inSyncTargetReplicas();
        return inSync.containsAll(partition.reassignment().adding()) && inSync.size() >= Math.max(1, requiredSize);
    }

    /**
     * Removes the old replicas. Only if {@link #canComplete}.
     *
     * @param requiredSize as there
     * @return the partition afterwards; the same object if none of the replicas that would remain can lead
     */
    public static PartitionImage complete(PartitionImage partition, int requiredSize, Brokers brokers) {
        PartitionImage done = changed(partition, partition.targetReplicas(), Reassignment.NONE, requiredSize, brokers);
        return done == null ? partition : done;
    }

    private static PartitionImage changed(
            PartitionImage partition,
            List<Integer> replicas,
            Reassignment reassignment,
            int requiredSize,
            Brokers brokers) {
        List<Integer> leaving = without(partition.replicas(), replicas);
        List<Integer> inSync = common(partition.inSyncReplicas(), replicas);
        int leader = partition.leader();
        if (!partition.hasLeader()) {
            if (leaving.stream().anyMatch(node -> mayBeNewest(partition, node))) {
                return null;
            }
        } else if (leaving.contains(leader)) {
            List<Integer> canLead = replicas.stream()
                    .filter(node -> inSync.contains(node) && brokers.stays(node))
                    .toList();
            if (canLead.isEmpty()) {
                return null;
            }
            leader = canLead.stream().filter(brokers::hasRoom).findFirst().orElse(canLead.get(0));
        }
        PartitionImage moved = partition.on(replicas, reassignment);
        PartitionImage after = moved.after(LeaderElection.change(moved, leader, inSync, requiredSize, brokers));
        boolean needsNewEpoch =
                partition.hasLeader() && !leaving.isEmpty() && after.leaderEpoch() == partition.leaderEpoch();
        return needsNewEpoch ? after.inNextEpoch() : after;
    }

    private static List<Integer> common(List<Integer> nodes, List<Integer> others) {
        return nodes.stream().filter(others::contains).toList();
    }

    private static List<Integer> without(List<Integer> nodes, List<Integer> others) {
        return nodes.stream().filter(node -> !others.contains(node)).toList();
    }
}
