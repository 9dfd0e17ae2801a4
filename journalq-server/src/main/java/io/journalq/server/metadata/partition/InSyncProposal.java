package io.journalq.server.metadata.partition;

import io.journalq.common.id.Uuid;
import java.util.List;

/**
 * The in-sync replicas that the leader of a partition proposes. Immutable.
 *
 * @param leaderEpoch the epoch in which it leads
 * @param partitionEpoch the state on which the proposal is based
 * @param inSyncReplicas all of them, including the leader
 */
public record InSyncProposal(
        Uuid topicId, int partition, int leaderEpoch, int partitionEpoch, List<Member> inSyncReplicas) {
    /** Instead of the epoch of a broker that the leader does not know. */
    public static final long UNKNOWN_EPOCH = -1;

    public InSyncProposal {
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }

    /**
     * An in-sync replica.
     *
     * @param brokerEpoch the registration of the broker that has fetched up to the end; {@link #UNKNOWN_EPOCH} if the
     *     leader does not know it
     */
    public record Member(int nodeId, long brokerEpoch) {}

    /** The ids of the in-sync replicas, in the order of the proposal. */
    public List<Integer> nodeIds() {
        return inSyncReplicas.stream().map(Member::nodeId).toList();
    }
}
