package io.journalq.server.metadata.partition;

import java.util.List;

/**
 * A change of a partition by a controller. It begins the next partition epoch. Immutable.
 *
 * @param leader the node that leads in the next leader epoch, or {@link PartitionImage#NO_LEADER};
 *     {@link #SAME_EPOCH} if the leader and its epoch stay
 * @param inSyncReplicas null if they stay as they are; so do the following ones
 * @param recovering whether acknowledged records may be missing in the next leader epoch
 */
public record PartitionChange(
        int leader,
        List<Integer> inSyncReplicas,
        List<Integer> eligibleLeaders,
        List<Integer> lastKnownEligible,
        boolean recovering) {
    /** The leader and its epoch stay. */
    public static final int SAME_EPOCH = -2;

    public PartitionChange {
        inSyncReplicas = copy(inSyncReplicas);
        eligibleLeaders = copy(eligibleLeaders);
        lastKnownEligible = copy(lastKnownEligible);
    }

    private static List<Integer> copy(List<Integer> nodes) {
        return nodes == null ? null : List.copyOf(nodes);
    }

    /**
     * The change from one set of nodes to another.
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
                changed(before.inSyncReplicas(), inSyncReplicas),
                changed(before.eligibleLeaders(), eligible),
                changed(before.lastKnownEligible(), last),
                recovering);
    }

    private static List<Integer> changed(List<Integer> before, List<Integer> after) {
        return before.equals(after) ? null : after;
    }

    /** Whether nothing changes. */
    public boolean isEmpty() {
        return leader == SAME_EPOCH && inSyncReplicas == null && eligibleLeaders == null && lastKnownEligible == null;
    }
}
