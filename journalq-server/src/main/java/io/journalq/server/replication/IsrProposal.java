package io.journalq.server.replication;

import java.util.List;

/**
 * The in-sync replicas that a leader asks the controller for. Immutable.
 *
 * @param partitionEpoch the partition epoch of the metadata that the proposal changes
 * @param members all in-sync replicas, including the leader
 */
public record IsrProposal(int leaderEpoch, int partitionEpoch, List<Member> members) {
    /** The leader does not know the broker epoch of a replica. */
    public static final long UNKNOWN_EPOCH = -1L;

    public IsrProposal {
        members = List.copyOf(members);
    }

    /**
     * One of the in-sync replicas.
     *
     * @param brokerEpoch identifies the life of the broker that has fetched, so that another life does not take its place
     *     (KIP-903); {@link #UNKNOWN_EPOCH} if it has not fetched from this leader
     */
    public record Member(int brokerId, long brokerEpoch) {}
}
