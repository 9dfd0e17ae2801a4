package io.journalq.server.api.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.server.api.data.TransactionGate;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Admits records through the coordinators of transactions. If the coordinator is on this broker, the caller continues on
 * its loop with {@link io.journalq.server.loop.LoopCycle#execute}. The markers of the transaction are passed in the same
 * way, and therefore arrive later. Otherwise the coordinator is asked with AddPartitionsToTxn (KIP-890), and a marker can
 * overtake its response: partitions find that with {@link io.journalq.server.producerstate.VerificationGuards}. Any
 * thread.
 */
public final class CoordinatorGate implements TransactionGate {
    private static final int REQUEST_VERSION = 5;
    /** Longer than a coordinator may take to confirm that no other broker is it. */
    private static final int REQUEST_TIMEOUT_MS = 6_000;

    /** The previous transaction of the producer usually ends within this time. */
    private static final int RETRIES = 25;

    private static final long RETRY_DELAY_MS = 10;

    private final Coordinators<TransactionMachine> transactions;
    private final Supplier<MetadataImage> images;
    private final int nodeId;
    private final PeerRequests peers;

    /**
     * Creates a gate.
     *
     * @param images supplies the newest image
     * @param nodeId this broker
     * @param peers sends requests to coordinators on other brokers; null if there are none
     */
    public CoordinatorGate(
            Coordinators<TransactionMachine> transactions,
            Supplier<MetadataImage> images,
            int nodeId,
            PeerRequests peers) {
        this.transactions = transactions;
        this.images = images;
        this.nodeId = nodeId;
        this.peers = peers;
    }

    @Override
    public void admit(Request request, Consumer<ErrorCode> decided) {
        ProducerClaim claim =
                new ProducerClaim(request.transactionalId(), request.producerId(), request.producerEpoch());
        ConfirmedErrors.<ErrorCode>submit(
                transactions,
                claim.transactionalId(),
                receiver -> (machine, nowMs, replies) -> {
                    Reply<ErrorCode> reply = replies.to(receiver, decided);
                    if (request.addMissing()) {
                        machine.onProduce(claim, request.partitions(), nowMs, reply);
                    } else {
                        machine.onVerify(claim, request.partitions(), reply);
                    }
                },
                error -> error,
                decided,
                unavailable -> {
                    if (unavailable == ErrorCode.NOT_COORDINATOR && peers != null) {
                        ask(request, RETRIES, decided);
                    } else {
                        decided.accept(unavailable);
                    }
                });
    }

    private void ask(Request request, int retries, Consumer<ErrorCode> decided) {
        int coordinator = coordinator(request.transactionalId());
        if (coordinator < 0 || coordinator == nodeId) {
            decided.accept(ErrorCode.COORDINATOR_NOT_AVAILABLE);
            return;
        }
        var unused = peers.send(coordinator, message(request), REQUEST_VERSION, REQUEST_TIMEOUT_MS)
                .whenComplete((response, failure) -> {
                    ErrorCode error = failure == null
                            ? error((AddPartitionsToTxnResponse) response)
                            : ErrorCode.COORDINATOR_NOT_AVAILABLE;
                    if (error == ErrorCode.CONCURRENT_TRANSACTIONS && retries > 0) {
                        peers.later(() -> ask(request, retries - 1, decided), RETRY_DELAY_MS);
                    } else {
                        decided.accept(error);
                    }
                });
    }

    /** The broker with the coordinator; negative if there is none at the moment. */
    private int coordinator(String transactionalId) {
        TopicImage topic = images.get().topic(transactions.topic());
        return topic == null
                ? -1
                : topic.partitions()
                        .get(Coordinators.partitionOf(
                                transactionalId, topic.partitions().size()))
                        .leader();
    }

    private static AddPartitionsToTxnRequest message(Request request) {
        Map<String, List<Integer>> byTopic = new TreeMap<>();
        for (TopicPartition partition : request.partitions()) {
            byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                    .add(partition.partition());
        }
        List<AddPartitionsToTxnTopic> topics = new ArrayList<>();
        byTopic.forEach((topic, partitions) ->
                topics.add(new AddPartitionsToTxnTopic().setName(topic).setPartitions(partitions)));
        return new AddPartitionsToTxnRequest()
                .setTransactions(List.of(new AddPartitionsToTxnTransaction()
                        .setTransactionalId(request.transactionalId())
                        .setProducerId(request.producerId())
                        .setProducerEpoch(request.producerEpoch())
                        .setVerifyOnly(!request.addMissing())
                        .setTopics(topics)));
    }

    /** All partitions have the same outcome, except that one of them can be unknown there. */
    private static ErrorCode error(AddPartitionsToTxnResponse response) {
        ErrorCode error = ErrorCode.of(response.errorCode());
        if (error != ErrorCode.NONE) {
            return error;
        }
        return response.resultsByTransaction().stream()
                .flatMap(transaction -> transaction.topicResults().stream())
                .flatMap(topic -> topic.resultsByPartition().stream())
                .map(partition -> ErrorCode.of(partition.partitionErrorCode()))
                .filter(one -> one != ErrorCode.NONE && one != ErrorCode.OPERATION_NOT_ATTEMPTED)
                .findFirst()
                .orElse(ErrorCode.NONE);
    }
}
