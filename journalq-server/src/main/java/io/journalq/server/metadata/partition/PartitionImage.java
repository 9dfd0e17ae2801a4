package io.journalq.server.metadata.partition;

import java.util.List;

/**
 * The nodes of a partition. Immutable.
 *
 * @param leader the leading node; {@link #NO_LEADER} if none can lead
 * @param leaderEpoch incremented with every change of leader, and with every start of the leader
 * @param partitionEpoch incremented with every change of a partition by a controller, so that a proposal of the leader
 *     that is based on an older state can be recognized
 * @param replicas nodes that hold the partition, the preferred leader first
 * @param inSyncReplicas nodes that have all acknowledged records
 * @param eligibleLeaders nodes outside the in-sync replicas that have all acknowledged records, because nothing was
 *     acknowledged since they left the in-sync replicas (KIP-966)
 * @param lastKnownEligible nodes that were in sync or eligible, and have lost records since then. Any of them may have most
 *     of the records: it is not known that a node which still is in sync or eligible had not lost its records before
 * @param recoveryEpoch the last leader epoch that began without some acknowledged records; {@link #NO_RECOVERY} if none
 *     did. A replica whose records are all older may remove records that consumers have seen
 * @param reassignment the change of the replicas that is in progress
 */
public record PartitionImage(
        int leader,
        int leaderEpoch,
        int partitionEpoch,
        List<Integer> replicas,
        List<Integer> inSyncReplicas,
        List<Integer> eligibleLeaders,
        List<Integer> lastKnownEligible,
        int recoveryEpoch,
        Reassignment reassignment) {
    /** Instead of a node that leads. */
    public static final int NO_LEADER = -1;

    /** Nothing that was acknowledged has been lost. */
    public static final int NO_RECOVERY = -1;

    public PartitionImage {
        replicas = List.copyOf(replicas);
        inSyncReplicas = List.copyOf(inSyncReplicas);
        eligibleLeaders = List.copyOf(eligibleLeaders);
        lastKnownEligible = List.copyOf(lastKnownEligible);
    }

    /** A partition that no controller has changed since its creation. */
    public PartitionImage(int leader, int leaderEpoch, List<Integer> replicas, List<Integer> inSyncReplicas) {
        this(leader, leaderEpoch, 0, replicas, inSyncReplicas, List.of(), List.of(), NO_RECOVERY, Reassignment.NONE);
    }

    /** Whether a node leads. */
    public boolean hasLeader() {
        return leader != NO_LEADER;
    }

    /** The node that leads if it can: the first replica. */
    public int preferredLeader() {
        return replicas.get(0);
    }

    /** The nodes that are the replicas when the reassignment has ended. */
    public List<Integer> targetReplicas() {
        return without(reassignment.removing());
    }

    /** Those of the target replicas that are in sync. */
    public List<Integer> inSyncTargetReplicas() {
        return inSyncReplicas.stream()
                .filter(node -> !reassignment.removing().contains(node))
                .toList();
    }

    /** The nodes that were the replicas before the reassignment. */
    public List<Integer> originalReplicas() {
        return without(reassignment.adding());
    }

    private List<Integer> without(List<Integer> nodes) {
        return nodes.isEmpty()
                ? replicas
                : replicas.stream().filter(node -> !nodes.contains(node)).toList();
    }

    /** The same leader in the next epoch. */
    public PartitionImage inNextEpoch() {
        return new PartitionImage(
                leader,
                leaderEpoch + 1,
                partitionEpoch,
                replicas,
                inSyncReplicas,
                eligibleLeaders,
                lastKnownEligible,
                recoveryEpoch,
                reassignment);
    }

    /** This partition on other nodes. */
    PartitionImage on(List<Integer> otherReplicas, Reassignment otherReassignment) {
        return new PartitionImage(
                leader,
                leaderEpoch,
                partitionEpoch,
                otherReplicas,
                inSyncReplicas,
                eligibleLeaders,
                lastKnownEligible,
                recoveryEpoch,
                otherReassignment);
    }

    /** This partition after a change. */
    public PartitionImage after(PartitionChange change) {
        boolean changesLeader = change.leader() != PartitionChange.SAME_EPOCH;
        return new PartitionImage(
                changesLeader ? change.leader() : leader,
                changesLeader ? leaderEpoch + 1 : leaderEpoch,
                partitionEpoch + 1,
                change.replicas() == null ? replicas : change.replicas(),
                change.inSyncReplicas() == null ? inSyncReplicas : change.inSyncReplicas(),
                change.eligibleLeaders() == null ? eligibleLeaders : change.eligibleLeaders(),
                change.lastKnownEligible() == null ? lastKnownEligible : change.lastKnownEligible(),
                change.recovering() ? leaderEpoch + 1 : recoveryEpoch,
                change.reassignment() == null ? reassignment : change.reassignment());
    }
}
