package io.journalq.server.shard.replica;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.replication.IsrProposal;
import java.util.concurrent.CompletableFuture;

/** Passes proposals of in-sync replicas to the controller. Any thread. */
@FunctionalInterface
public interface IsrProposals {
    /**
     * Proposes the in-sync replicas of a partition. If the controller accepts, they take effect with the metadata.
     *
     * @return the controller's decision. If the future fails, the decision is not known, and can be acceptance
     */
    CompletableFuture<ErrorCode> propose(Uuid topicId, int partition, IsrProposal proposal);
}
