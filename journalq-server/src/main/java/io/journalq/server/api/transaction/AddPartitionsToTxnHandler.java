package io.journalq.server.api.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse.AddPartitionsToTxnResult;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import io.journalq.server.transaction.TransactionVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * AddPartitionsToTxn, versions 0 to 5: adds partitions to a producer's transaction, either all partitions of the
 * request's transaction or none (KIP-98). Up to version 3, a request has one transaction. From version 4, it has any
 * number of them, and can also only verify partitions (KIP-890).
 */
public final class AddPartitionsToTxnHandler implements Handler<AddPartitionsToTxnRequest> {
    private static final short FIRST_VERSION_WITH_FENCED = 2;
    private static final short FIRST_BATCHED_VERSION = 4;
    private static final short FIRST_VERSION_WITH_ABORTABLE = 5;

    private final Coordinators<TransactionMachine> transactions;
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public AddPartitionsToTxnHandler(Coordinators<TransactionMachine> transactions, Supplier<MetadataImage> images) {
        this.transactions = transactions;
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                0,
                5,
                AccessRule.asks(Right.WRITE_TRANSACTIONAL_ID, Right.CLUSTER_ACTION, Right.WRITE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, AddPartitionsToTxnRequest request) {
        short version = context.apiVersion();
        if (version < FIRST_BATCHED_VERSION) {
            if (!context.allows(Right.WRITE_TRANSACTIONAL_ID, request.v3AndBelowTransactionalId())) {
                context.respond(new AddPartitionsToTxnResponse()
                        .setResultsByTopicV3AndBelow(
                                refused(request.v3AndBelowTopics(), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)));
                return;
            }
            AddPartitionsToTxnTransaction only = new AddPartitionsToTxnTransaction()
                    .setTransactionalId(request.v3AndBelowTransactionalId())
                    .setProducerId(request.v3AndBelowProducerId())
                    .setProducerEpoch(request.v3AndBelowProducerEpoch())
                    .setTopics(request.v3AndBelowTopics());
            add(
                    context,
                    only,
                    results -> context.respond(new AddPartitionsToTxnResponse().setResultsByTopicV3AndBelow(results)));
            return;
        }
        if (!context.allows(Right.CLUSTER_ACTION)) {
            context.respond(
                    new AddPartitionsToTxnResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        List<AddPartitionsToTxnTransaction> asked = request.transactions();
        OrderedResults<AddPartitionsToTxnResult> transactionResults = new OrderedResults<>(
                asked.size(), all -> context.respond(new AddPartitionsToTxnResponse().setResultsByTransaction(all)));
        for (int i = 0; i < asked.size(); i++) {
            AddPartitionsToTxnTransaction one = asked.get(i);
            int index = i;
            add(
                    context,
                    one,
                    results -> transactionResults.set(
                            index,
                            new AddPartitionsToTxnResult()
                                    .setTransactionalId(one.transactionalId())
                                    .setTopicResults(results)));
        }
    }

    private static List<AddPartitionsToTxnTopicResult> refused(List<AddPartitionsToTxnTopic> topics, ErrorCode error) {
        return topics.stream()
                .map(topic -> new AddPartitionsToTxnTopicResult()
                        .setName(topic.name())
                        .setResultsByPartition(topic.partitions().stream()
                                .map(partition -> new AddPartitionsToTxnPartitionResult()
                                        .setPartitionIndex(partition)
                                        .setPartitionErrorCode(error.code()))
                                .toList()))
                .toList();
    }

    private void add(
            RequestContext context,
            AddPartitionsToTxnTransaction asked,
            Consumer<List<AddPartitionsToTxnTopicResult>> done) {
        short version = context.apiVersion();
        List<TopicPartition> partitions = new ArrayList<>();
        List<AddPartitionsToTxnPartitionResult> partitionResults = new ArrayList<>();
        List<AddPartitionsToTxnTopicResult> results = new ArrayList<>();
        boolean sound = prepare(context, asked, partitions, partitionResults, results);
        if (!sound || partitions.isEmpty()) {
            done.accept(results);
            return;
        }
        Consumer<ErrorCode> respond = error -> {
            short code = TransactionErrors.withAbortableFrom(
                            FIRST_VERSION_WITH_ABORTABLE,
                            version,
                            TransactionErrors.withFencedFrom(FIRST_VERSION_WITH_FENCED, version, error))
                    .code();
            partitionResults.forEach(one -> one.setPartitionErrorCode(code));
            done.accept(results);
        };
        ProducerClaim claim = new ProducerClaim(asked.transactionalId(), asked.producerId(), asked.producerEpoch());
        ConfirmedErrors.<ErrorCode>submit(
                transactions,
                claim.transactionalId(),
                receiver -> (machine, nowMs, replies) -> {
                    Reply<ErrorCode> reply = replies.to(receiver, respond);
                    if (asked.verifyOnly()) {
                        machine.onVerify(claim, partitions, reply);
                    } else {
                        machine.onAddPartitions(claim, partitions, generation(version), nowMs, reply);
                    }
                },
                error -> error,
                respond,
                respond);
    }

    private static short generation(short version) {
        return version >= FIRST_VERSION_WITH_ABORTABLE ? TransactionVersion.SECOND : TransactionVersion.FIRST;
    }

    /**
     * Collects the partitions and prepares the response.
     *
     * @param partitions receives the partitions
     * @param partitionResults receives the element of each partition in the response
     * @param results receives the elements of the topics
     * @return false when a partition cannot take part; the errors are set in that case
     */
    private boolean prepare(
            RequestContext context,
            AddPartitionsToTxnTransaction asked,
            List<TopicPartition> partitions,
            List<AddPartitionsToTxnPartitionResult> partitionResults,
            List<AddPartitionsToTxnTopicResult> results) {
        MetadataImage image = images.get();
        boolean sound = true;
        for (AddPartitionsToTxnTopic topic : asked.topics()) {
            List<AddPartitionsToTxnPartitionResult> ofTopic = new ArrayList<>();
            // Another broker asks for its client, whose rights it has checked.
            boolean mayWrite =
                    context.apiVersion() >= FIRST_BATCHED_VERSION || context.allows(Right.WRITE_TOPIC, topic.name());
            for (int partition : topic.partitions()) {
                boolean ofGroups = context.apiVersion() >= FIRST_BATCHED_VERSION
                        && topic.name().equals(InternalTopics.GROUPS);
                ErrorCode error = mayWrite
                        ? check(image, topic.name(), partition, ofGroups)
                        : ErrorCode.TOPIC_AUTHORIZATION_FAILED;
                sound &= error == ErrorCode.NONE;
                ofTopic.add(new AddPartitionsToTxnPartitionResult()
                        .setPartitionIndex(partition)
                        .setPartitionErrorCode(error.code()));
                partitions.add(new TopicPartition(topic.name(), partition));
            }
            partitionResults.addAll(ofTopic);
            results.add(
                    new AddPartitionsToTxnTopicResult().setName(topic.name()).setResultsByPartition(ofTopic));
        }
        if (!sound) {
            partitionResults.stream()
                    .filter(result -> result.partitionErrorCode() == ErrorCode.NONE.code())
                    .forEach(result -> result.setPartitionErrorCode(ErrorCode.OPERATION_NOT_ATTEMPTED.code()));
        }
        return sound;
    }

    /** @param ofGroups another broker adds the partition of a group, to which clients do not write */
    private static ErrorCode check(MetadataImage image, String name, int partition, boolean ofGroups) {
        if (InternalTopics.contains(name) && !ofGroups) {
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED;
        }
        TopicImage topic = image.topic(name);
        return topic == null || partition < 0 || partition >= topic.partitions().size()
                ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                : ErrorCode.NONE;
    }
}
