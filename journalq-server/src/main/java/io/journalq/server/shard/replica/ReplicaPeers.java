package io.journalq.server.shard.replica;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.replication.IsrProposal;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/**
 * The rest of the cluster, as the replicas of this broker see it. Any thread.
 *
 * @param nodeId the id of this broker
 * @param brokerEpoch identifies this life of this broker; -1 if it is not registered
 * @param channels opens connections to other brokers
 * @param addresses where brokers reach the one with an id; null if unknown
 * @param mayJoin whether the broker with an id may be in sync
 * @param proposals passes proposals of this broker's leaders on
 * @param decided what the metadata tell about proposals
 * @param maxLagMs how long an in-sync replica may be behind, in milliseconds
 * @param maxLoneMs how long only a leader may have a record that it has acknowledged, in milliseconds
 */
public record ReplicaPeers(
        int nodeId,
        LongSupplier brokerEpoch,
        PeerChannels channels,
        IntFunction<ListenerAddress> addresses,
        IntPredicate mayJoin,
        IsrProposals proposals,
        Decided decided,
        long maxLagMs,
        long maxLoneMs) {
    /** What the metadata tell about proposals. */
    @FunctionalInterface
    public interface Decided {
        /** Whether a proposal was not accepted, and cannot be later. */
        boolean isNeverAccepted(Uuid topicId, int partition, IsrProposal proposal);
    }
}
