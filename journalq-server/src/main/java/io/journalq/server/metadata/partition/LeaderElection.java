package io.journalq.server.metadata.partition;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Decides who leads a partition, and who is in sync, when brokers come and go. Only a node that has all acknowledged
 * records leads: an in-sync replica, or an eligible one (KIP-966). Stateless.
 *
 * <p>Nodes that leave the in-sync replicas stay eligible while fewer replicas are in sync than an acknowledgement
 * requires, because nothing is acknowledged meanwhile. A node that has lost records is neither.
 *
 * <p>If the last of these nodes have lost records, it is known that no node has all acknowledged records. When all of
 * them are live again, the replica that has most of the records leads all the same, in an epoch that is marked as
 * recovering. Which one that is, the metadata do not say: see {@link #canRecover}.
 *
 * <p>Nodes need not register in the order in which they have lost records: the one that is last may have lost its records
 * first. A node that leaves because it has lost records is therefore among the last ones, too, until a proposal of the
 * leader shows that a node without losses has outlived it.
 */
public final class LeaderElection {
    private LeaderElection() {}

    /** What is known about the brokers. */
    public interface Brokers {
        /** Whether a broker is not fenced. */
        boolean isLive(int nodeId);

        /** Whether a live broker is not about to stop. */
        boolean stays(int nodeId);

        /** Whether the disks of a broker have room for records. */
        boolean hasRoom(int nodeId);

        /** Whether a broker still has everything that it has acknowledged. */
        boolean keepsRecords(int nodeId);
    }

    /**
     * The change that the brokers require. In-sync replicas that are fenced leave, and so do those that are about to stop
     * and need not lead. The leader stays if it can, and has room or no other one has. Otherwise an in-sync replica leads,
     * if none can an eligible one, in the order of the replicas. A broker that is about to stop leads only if no other one
     * can.
     *
     * @param requiredSize number of in-sync replicas without which nothing is acknowledged
     * @return empty if nothing changes
     */
    public static PartitionChange elect(PartitionImage partition, int requiredSize, Brokers brokers) {
        List<Integer> live =
                partition.inSyncReplicas().stream().filter(brokers::isLive).toList();
        int leader = leader(partition, live, brokers);
        List<Integer> inSync = new ArrayList<>();
        for (int node : live) {
            if (node == leader || brokers.stays(node)) {
                inSync.add(node);
            }
        }
        if (leader != PartitionImage.NO_LEADER && inSync.isEmpty()) {
            inSync.add(leader);
        }
        boolean isOnly = partition.replicas().size() == 1;
        return leader == PartitionImage.NO_LEADER && isOnly && canRecover(partition, brokers::isLive)
                ? recover(partition, partition.preferredLeader())
                : change(partition, leader, inSync, requiredSize, brokers);
    }

    /**
     * Whether no node is eligible, and all that were eligible last are live: any of them may have most of the records.
     *
     * @param isLive whether the broker with an id is not fenced
     */
    public static boolean canRecover(PartitionImage partition, IntPredicate isLive) {
        List<Integer> last = partition.lastKnownEligible();
        return partition.inSyncReplicas().isEmpty()
                && partition.eligibleLeaders().isEmpty()
                && !last.isEmpty()
                && last.stream().allMatch(isLive::test);
    }

    /** The change that makes a replica lead although acknowledged records are lost. */
    public static PartitionChange recover(PartitionImage partition, int leader) {
        return PartitionChange.of(partition, leader, List.of(leader), List.of(), List.of(), true);
    }

    /**
     * The change that makes any live replica lead a partition that has no leader, although acknowledged records may be
     * lost; empty if there is none.
     */
    public static PartitionChange electUnclean(PartitionImage partition, Brokers brokers) {
        for (int node : partition.replicas()) {
            if (!partition.hasLeader() && brokers.isLive(node)) {
                return recover(partition, node);
            }
        }
        return PartitionChange.NONE;
    }

    private static int leader(PartitionImage partition, List<Integer> live, Brokers brokers) {
        int before = partition.leader();
        int withRoom = leader(partition, node -> live.contains(node) && brokers.stays(node) && brokers.hasRoom(node));
        if (withRoom != PartitionImage.NO_LEADER) {
            return withRoom;
        }
        int staying = leader(partition, node -> live.contains(node) && brokers.stays(node));
        if (staying != PartitionImage.NO_LEADER) {
            return staying;
        }
        if (!live.isEmpty()) {
            return live.contains(before) ? before : live.get(0);
        }
        int last = PartitionImage.NO_LEADER;
        for (int node : partition.replicas()) {
            if (partition.eligibleLeaders().contains(node) && brokers.isLive(node)) {
                if (brokers.stays(node)) {
                    return node;
                }
                last = last == PartitionImage.NO_LEADER ? node : last;
            }
        }
        return last;
    }

    /** The current leader if it can lead, otherwise the first replica that can. */
    private static int leader(PartitionImage partition, IntPredicate canLead) {
        if (canLead.test(partition.leader())) {
            return partition.leader();
        }
        for (int node : partition.replicas()) {
            if (canLead.test(node)) {
                return node;
            }
        }
        return PartitionImage.NO_LEADER;
    }

    /**
     * The change that gives the leadership to the preferred leader; empty if it already leads or must not lead.
     */
    public static PartitionChange electPreferred(PartitionImage partition, int requiredSize, Brokers brokers) {
        int preferred = partition.preferredLeader();
        boolean canLead = partition.inSyncReplicas().contains(preferred)
                && brokers.isLive(preferred)
                && brokers.stays(preferred)
                && (brokers.hasRoom(preferred) || !brokers.hasRoom(partition.leader()));
        return change(
                partition, canLead ? preferred : partition.leader(), partition.inSyncReplicas(), requiredSize, brokers);
    }

    /**
     * The change that a proposal of the leader makes. The leader runs and has everything that was acknowledged, so that
     * nodes which lost records before do not matter any more.
     */
    public static PartitionChange propose(
            PartitionImage partition, List<Integer> inSyncReplicas, int requiredSize, Brokers brokers) {
        return PartitionChange.of(
                partition,
                PartitionChange.SAME_EPOCH,
                inSyncReplicas,
                eligible(partition, inSyncReplicas, requiredSize, brokers),
                List.of(),
                false);
    }

    /**
     * The change that follows if fewer in-sync replicas are required from now on: where these are enough, no other node is
     * eligible any more.
     */
    public static PartitionChange requireFewer(PartitionImage partition, int requiredSize) {
        return partition.inSyncReplicas().size() < requiredSize
                ? PartitionChange.NONE
                : PartitionChange.of(
                        partition,
                        PartitionChange.SAME_EPOCH,
                        partition.inSyncReplicas(),
                        List.of(),
                        partition.lastKnownEligible(),
                        false);
    }

    /**
     * The change of the leader and the in-sync replicas, with the eligible replicas that follow from it.
     *
     * @param leader the current one if its epoch goes on
     */
    static PartitionChange change(
            PartitionImage partition, int leader, List<Integer> inSync, int requiredSize, Brokers brokers) {
        return PartitionChange.of(
                partition,
                leader == partition.leader() ? PartitionChange.SAME_EPOCH : leader,
                inSync,
                eligible(partition, inSync, requiredSize, brokers),
                lastKnownEligible(partition, inSync, brokers),
                false);
    }

    private static List<Integer> eligible(
            PartitionImage partition, List<Integer> inSync, int requiredSize, Brokers brokers) {
        List<Integer> eligible = new ArrayList<>();
        for (int node : partition.replicas()) {
            if (inSync.size() < requiredSize
                    && !inSync.contains(node)
                    && wasSafe(partition, node)
                    && brokers.keepsRecords(node)) {
                eligible.add(node);
            }
        }
        return eligible;
    }

    private static List<Integer> lastKnownEligible(PartitionImage partition, List<Integer> inSync, Brokers brokers) {
        List<Integer> last = new ArrayList<>();
        for (int node : partition.replicas()) {
            boolean hasLostRecords = wasSafe(partition, node)
                    ? !brokers.keepsRecords(node)
                    : partition.lastKnownEligible().contains(node);
            if (hasLostRecords && !inSync.contains(node)) {
                last.add(node);
            }
        }
        return last;
    }

    private static boolean wasSafe(PartitionImage partition, int node) {
        return partition.inSyncReplicas().contains(node)
                || partition.eligibleLeaders().contains(node);
    }
}
