package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the operations of a broker to the active controller of its cluster. While there is none, or it cannot be
 * reached, an operation is repeated: a registration until it succeeds, others up to {@link #MAX_ATTEMPTS} times. An
 * operation may therefore take effect more than once. A registration is also repeated while another process of the
 * broker is registered and not fenced. Heartbeats, reports of lost records and proposals for partitions are not repeated:
 * who sends them makes new ones. Any thread.
 */
final class ControllerLink implements ControllerOperations {
    private static final Logger log = LoggerFactory.getLogger(ControllerLink.class);

    private static final int PAUSE_MS = 100;

    /** Attempts of an operation for which a client waits. The client repeats its request after a failure. */
    static final int MAX_ATTEMPTS = 30;

    private final int nodeId;
    private final ControllerOperations local;
    private final Supplier<Members> members;
    private final PeerControllers peers;
    private final Loop loop;

    /**
     * Creates a link.
     *
     * @param local the controller of this broker
     * @param members name the leader of the quorum, whose controller is the active one
     * @param loop measures the time until the next attempt
     */
    ControllerLink(
            int nodeId, ControllerOperations local, Supplier<Members> members, PeerControllers peers, Loop loop) {
        this.nodeId = nodeId;
        this.local = local;
        this.members = members;
        this.peers = peers;
        this.loop = loop;
    }

    @Override
    public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
        return call(
                controller -> controller
                        .registerBroker(registration, previousEpoch)
                        .thenCompose(outcome -> outcome.error() == ErrorCode.STALE_BROKER_EPOCH
                                ? CompletableFuture.failedFuture(new OtherProcessException())
                                : CompletableFuture.completedFuture(outcome)),
                Integer.MAX_VALUE);
    }

    @Override
    public CompletableFuture<ErrorCode> loseRecords(int loser, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
        return call(controller -> controller.loseRecords(loser, brokerEpoch, partitions), 1);
    }

    @Override
    public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
        return call(controller -> controller.heartbeat(heartbeat), 1);
    }

    @Override
    public CompletableFuture<List<PartitionOutcome>> alterPartitions(
            int proposer, long brokerEpoch, List<InSyncProposal> proposals) {
        return call(controller -> controller.alterPartitions(proposer, brokerEpoch, proposals), 1);
    }

    @Override
    public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
        return call(controller -> controller.createTopics(specs, validateOnly), MAX_ATTEMPTS);
    }

    @Override
    public CompletableFuture<Long> allocateProducerIds(int count) {
        return call(controller -> controller.allocateProducerIds(count), MAX_ATTEMPTS);
    }

    private <T> CompletableFuture<T> call(
            Function<ControllerOperations, CompletableFuture<T>> operation, int maxAttempts) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Call<>(operation, maxAttempts, result).attempt(1);
        return result;
    }

    /** The attempts of one operation, one after the other. */
    private final class Call<T> {
        private final Function<ControllerOperations, CompletableFuture<T>> operation;
        private final int maxAttempts;
        private final CompletableFuture<T> result;

        Call(
                Function<ControllerOperations, CompletableFuture<T>> operation,
                int maxAttempts,
                CompletableFuture<T> result) {
            this.operation = operation;
            this.maxAttempts = maxAttempts;
            this.result = result;
        }

        void attempt(int number) {
            var unused = operation.apply(controller()).whenComplete((value, failure) -> {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                if (cause == null) {
                    result.complete(value);
                } else if (isTemporary(cause) && number < maxAttempts) {
                    if (number == MAX_ATTEMPTS) {
                        log.warn("this broker waits for a controller: reason=\"{}\"", cause.getMessage());
                    }
                    repeat(number + 1);
                } else {
                    result.completeExceptionally(cause);
                }
            });
        }

        private static boolean isTemporary(Throwable cause) {
            return cause instanceof NotControllerException || cause instanceof OtherProcessException;
        }

        private void repeat(int number) {
            try {
                var unused = loop.schedule(() -> attempt(number), PAUSE_MS);
            } catch (RejectedExecutionException stopped) {
                result.completeExceptionally(stopped);
            }
        }
    }

    /** The controller takes another process of this broker for the newer one, until it fences it. */
    private static final class OtherProcessException extends IOException {
        private static final long serialVersionUID = 1L;

        OtherProcessException() {
            super(
                    "another process of this broker is registered and not fenced, and the data directories of this one are"
                            + " older; never start a copy of a data directory");
        }
    }

    /** The controller of this broker refuses operations if it is not the active one. */
    private ControllerOperations controller() {
        int leader = members.get().leaderId();
        ControllerOperations peer = leader == nodeId || leader == Members.NO_LEADER ? null : peers.of(leader);
        return peer == null ? local : peer;
    }
}
