package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.shard.replica.IsrProposals;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/** Passes the proposals of all loops to the controller, those of a short time together. Any thread. */
final class GatheredProposals implements IsrProposals {
    /** Time for which proposals are gathered. */
    private static final int GATHER_MS = 20;

    private final int nodeId;
    private final LongSupplier brokerEpoch;
    private final ControllerOperations controller;
    private final Loop loop;
    private List<Waiting> gathered = new ArrayList<>();

    /** A proposal that waits for its outcome. */
    private record Waiting(InSyncProposal proposal, CompletableFuture<ErrorCode> outcome) {}

    /**
     * Creates an instance.
     *
     * @param brokerEpoch the registration of this broker
     * @param controller does not repeat proposals
     * @param loop measures the time
     */
    GatheredProposals(int nodeId, LongSupplier brokerEpoch, ControllerOperations controller, Loop loop) {
        this.nodeId = nodeId;
        this.brokerEpoch = brokerEpoch;
        this.controller = controller;
        this.loop = loop;
    }

    @Override
    public CompletableFuture<ErrorCode> propose(Uuid topicId, int partition, IsrProposal proposal) {
        Waiting waiting = new Waiting(
                new InSyncProposal(
                        topicId,
                        partition,
                        proposal.leaderEpoch(),
                        proposal.partitionEpoch(),
                        proposal.members().stream()
                                .map(member -> new InSyncProposal.Member(member.brokerId(), member.brokerEpoch()))
                                .toList()),
                new CompletableFuture<>());
        boolean first;
        synchronized (this) {
            gathered.add(waiting);
            first = gathered.size() == 1;
        }
        if (first) {
            try {
                var unused = loop.schedule(this::send, GATHER_MS);
            } catch (RejectedExecutionException stopped) {
                waiting.outcome().completeExceptionally(stopped);
            }
        }
        return waiting.outcome();
    }

    private void send() {
        List<Waiting> sent;
        synchronized (this) {
            sent = gathered;
            gathered = new ArrayList<>();
        }
        var unused = controller
                .alterPartitions(
                        nodeId,
                        brokerEpoch.getAsLong(),
                        sent.stream().map(Waiting::proposal).toList())
                .whenComplete((outcomes, failure) -> complete(sent, outcomes, failure));
    }

    private static void complete(List<Waiting> sent, List<PartitionOutcome> outcomes, Throwable failure) {
        for (int i = 0; i < sent.size(); i++) {
            if (failure != null || i >= outcomes.size()) {
                sent.get(i)
                        .outcome()
                        .completeExceptionally(
                                failure != null ? failure : new IllegalStateException("an outcome is missing"));
            } else {
                sent.get(i).outcome().complete(outcomes.get(i).error());
            }
        }
    }
}
