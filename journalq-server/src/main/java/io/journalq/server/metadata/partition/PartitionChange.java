package io.journalq.server.metadata.partition;

import java.util.List;

/**
 * A change of a partition by a controller. It begins the next partition epoch. Immutable.
 *
 * @param leader the node that leads in the next leader epoch, or {@link PartitionImage#NO_LEADER};
 *     {@link #SAME_EPOCH} if the leader and its epoch stay
 * @param replicas null if they stay as they are; so do the following ones
 * @param recovering whether acknowledged records may be missing in the next leader epoch
 * @param reassignment null if it goes on as before
 */
public record PartitionChange(
        int leader,
        List<Integer> replicas,
        List<Integer> inSyncReplicas,
        List<Integer> eligibleLeaders,
        List<Integer> lastKnownEligible,
        boolean recovering,
        Reassignment reassignment) {
    /** The leader and its epoch stay. */
    public static final int SAME_EPOCH = -2;

    /** Nothing changes. */
    public static final PartitionChange NONE = new PartitionChange(SAME_EPOCH, null, null, null, null, false, null);

    public PartitionChange {
        replicas = copy(replicas);
        inSyncReplicas = copy(inSyncReplicas);
        eligibleLeaders = copy(eligibleLeaders);
        lastKnownEligible = copy(lastKnownEligible);
    }

    private static List<Integer> copy(List<Integer> nodes) {
        return nodes == null ? null : List.copyOf(nodes);
    }

    /**
     * The change from one state of a partition to another. The later one may be several changes later: they become one,
     * with one new leader epoch if the epoch has changed at all.
     */
    public static PartitionChange between(PartitionImage before, PartitionImage after) {
        return new PartitionChange(
                after.leaderEpoch() == before.leaderEpoch() ? SAME_EPOCH : after.leader(),
                changed(before.replicas(), after.replicas()),
                changed(before.inSyncReplicas(), after.inSyncReplicas()),
                changed(before.eligibleLeaders(), after.eligibleLeaders()),
                changed(before.lastKnownEligible(), after.lastKnownEligible()),
                after.recoveryEpoch() != before.recoveryEpoch(),
                before.reassignment().equals(after.reassignment()) ? null : after.reassignment());
    }

    /**
     * The change of a partition whose replicas stay.
     *
     * @param leader as the component of the same name
     */
    static PartitionChange of(
            PartitionImage before,
            int leader,
            List<Integer> inSyncReplicas,
            List<Integer> eligible,
            List<Integer> last,
            boolean recovering) {
        return new PartitionChange(
                leader,
                null,
                changed(before.inSyncReplicas(), inSyncReplicas),
                changed(before.eligibleLeaders(), eligible),
                changed(before.lastKnownEligible(), last),
                recovering,
                null);
    }

    private static List<Integer> changed(List<Integer> before, List<Integer> after) {
        return before.equals(after) ? null : after;
    }

    /** Whether nothing changes. */
    public boolean isEmpty() {
        return equals(NONE);
    }
}
