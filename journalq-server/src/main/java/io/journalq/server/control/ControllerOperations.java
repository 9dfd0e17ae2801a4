package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The operations that a broker itself needs from the controller. In a cluster, the controller may be on another broker,
 * see {@link PeerControllers}. If a future fails, the operation may still take effect later. Any thread.
 */
public interface ControllerOperations {
    /**
     * Registers a broker. See {@link io.journalq.server.metadata.RegistrationDecider#register}.
     *
     * @param previousEpoch the last registration of the broker, if it has lost nothing since then; what says that only
     *     its disks are as they were ({@link BrokerRegistration#afterPowerLoss}); otherwise -1
     * @return completed when the registration is committed or refused; another broker than the controller may apply it
     *     later
     */
    CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch);

    /**
     * A broker has found out that replicas have lost acknowledged records, or that their files cannot be used any more.
     * They are not eligible as leaders any more, until they have caught up. A live broker goes on to lead what nobody else
     * can lead.
     *
     * @param brokerEpoch its registration
     * @param partitions numbers of the partitions, by topic id
     * @return {@link ErrorCode#STALE_BROKER_EPOCH} if the broker has another registration
     */
    CompletableFuture<ErrorCode> loseRecords(int nodeId, long brokerEpoch, Map<Uuid, List<Integer>> partitions);

    /** A broker shows that it is alive. */
    CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat);

    /**
     * Changes the in-sync replicas of partitions as their leader proposes. One outcome each, in order.
     *
     * @param nodeId the leader
     * @param brokerEpoch its registration
     */
    CompletableFuture<List<PartitionOutcome>> alterPartitions(
            int nodeId, long brokerEpoch, List<InSyncProposal> proposals);

    /** Creates topics; one outcome each, in order. */
    CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly);

    /** Allocates a block of producer ids. The future holds the first id. */
    CompletableFuture<Long> allocateProducerIds(int count);
}
