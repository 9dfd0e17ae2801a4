package io.journalq.client.admin;

import io.journalq.common.id.Uuid;
import java.util.List;

/**
 * The brokers that vote on the metadata of the cluster. Immutable.
 *
 * @param leaderId id of the controller, or -1 if there is none
 * @param leaderEpoch the epoch in which it leads
 * @param highWatermark offset behind the last entry of the metadata log that is committed
 * @param voters by id
 */
public record QuorumDescription(int leaderId, int leaderEpoch, long highWatermark, List<Voter> voters) {
    public QuorumDescription {
        voters = List.copyOf(voters);
    }

    /**
     * A broker that votes.
     *
     * @param directoryId its data directory, or {@link Uuid#ZERO} if the broker does not report it
     * @param logEndOffset the end of its log, or -1 if the controller does not know it
     */
    public record Voter(int brokerId, Uuid directoryId, long logEndOffset) {}
}
