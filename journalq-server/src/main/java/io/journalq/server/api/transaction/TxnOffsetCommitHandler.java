package io.journalq.server.api.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.data.TransactionGate;
import io.journalq.server.api.group.GroupRefusals;
import io.journalq.server.group.CommittedOffsets;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * TxnOffsetCommit, versions 0 to 5: commits offsets of a group when the producer's transaction commits (KIP-98,
 * KIP-447). Versions up to 4 require an earlier AddOffsetsToTxn. Version 5 does both (KIP-890).
 */
public final class TxnOffsetCommitHandler implements Handler<TxnOffsetCommitRequest> {
    private static final short FIRST_VERSION_WITH_LOADING = 2;
    private static final short FIRST_VERSION_WITH_ABORTABLE = 4;
    private static final short FIRST_VERSION_THAT_ADDS = 5;

    private final TransactionGate gate;
    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;
    private final GroupRefusals refusals;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image
     * @param refusals logs requests that exceed limits
     */
    public TxnOffsetCommitHandler(
            TransactionGate gate,
            Coordinators<GroupMachine> groups,
            Supplier<MetadataImage> images,
            GroupRefusals refusals) {
        this.gate = gate;
        this.groups = groups;
        this.images = images;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.TXN_OFFSET_COMMIT,
                0,
                5,
                AccessRule.asks(Right.WRITE_TRANSACTIONAL_ID, Right.READ_GROUP, Right.READ_TOPIC));
    }

    @Override
    public void handle(RequestContext context, TxnOffsetCommitRequest request) {
        ErrorCode denial = !context.allows(Right.WRITE_TRANSACTIONAL_ID, request.transactionalId())
                ? ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
                : context.allows(Right.READ_GROUP, request.groupId())
                        ? ErrorCode.NONE
                        : ErrorCode.GROUP_AUTHORIZATION_FAILED;
        Pending pending = new Pending(context, request);
        pending.prepare(images.get(), denial);
        int partition = groups.partitionOf(request.groupId());
        if (pending.commits.isEmpty()) {
            pending.respond(List.of());
        } else if (partition < 0) {
            pending.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        } else if (groups.guards(request.groupId()) == null) {
            pending.refuse(ErrorCode.NOT_COORDINATOR);
        } else {
            long guard = groups.guards(request.groupId()).guard();
            gate.admit(
                    new TransactionGate.Request(
                            request.transactionalId(),
                            request.producerId(),
                            request.producerEpoch(),
                            List.of(new TopicPartition(groups.topic(), partition)),
                            context.apiVersion() >= FIRST_VERSION_THAT_ADDS),
                    error -> {
                        if (error == ErrorCode.NONE) {
                            commit(pending, guard);
                        } else {
                            pending.refuse(TransactionErrors.ofGate(
                                    FIRST_VERSION_WITH_ABORTABLE, context.apiVersion(), error));
                        }
                    });
        }
    }

    private void commit(Pending pending, long guard) {
        TxnOffsetCommitRequest request = pending.request;
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onTransactionalOffsetCommit(
                        request.groupId(),
                        new CommittedOffsets.Committer(
                                request.memberId(), request.groupInstanceId(), request.generationId()),
                        new CommittedOffsets.InTransaction(
                                request.producerId(), request.producerEpoch(), guard, pending.commits),
                        nowMs,
                        replies.to(
                                outcomes -> {
                                    refusals.report(pending.context, request.groupId(), outcomes);
                                    pending.respond(outcomes);
                                },
                                pending::refuse)),
                pending::refuse);
    }

    /** A request and its response. The existing partitions wait for their outcomes. */
    private static final class Pending {
        private final RequestContext context;
        private final TxnOffsetCommitRequest request;
        private final List<CommittedOffsets.Commit> commits = new ArrayList<>();
        private final List<TxnOffsetCommitResponsePartition> waiting = new ArrayList<>();
        private final List<TxnOffsetCommitResponseTopic> topics = new ArrayList<>();

        Pending(RequestContext context, TxnOffsetCommitRequest request) {
            this.context = context;
            this.request = request;
        }

        /** @param denial why the whole request is refused */
        void prepare(MetadataImage image, ErrorCode denial) {
            for (TxnOffsetCommitRequestTopic wanted : request.topics()) {
                TopicImage topic = image.topic(wanted.name());
                boolean mayRead = denial != ErrorCode.NONE || context.allows(Right.READ_TOPIC, wanted.name());
                List<TxnOffsetCommitResponsePartition> results = new ArrayList<>();
                topics.add(new TxnOffsetCommitResponseTopic()
                        .setName(wanted.name())
                        .setPartitions(results));
                for (TxnOffsetCommitRequestPartition partition : wanted.partitions()) {
                    int index = partition.partitionIndex();
                    TxnOffsetCommitResponsePartition result =
                            new TxnOffsetCommitResponsePartition().setPartitionIndex(index);
                    results.add(result);
                    if (denial != ErrorCode.NONE) {
                        result.setErrorCode(denial.code());
                    } else if (!mayRead) {
                        result.setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code());
                    } else if (topic == null
                            || index < 0
                            || index >= topic.partitions().size()) {
                        result.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
                    } else {
                        waiting.add(result);
                        commits.add(new CommittedOffsets.Commit(
                                topic.name(),
                                topic.id(),
                                index,
                                partition.committedOffset(),
                                partition.committedLeaderEpoch(),
                                topic.partitions().get(index).leaderEpoch(),
                                partition.committedMetadata()));
                    }
                }
            }
        }

        void respond(List<ErrorCode> outcomes) {
            for (int i = 0; i < outcomes.size(); i++) {
                waiting.get(i).setErrorCode(outcomes.get(i).code());
            }
            context.respond(new TxnOffsetCommitResponse().setTopics(topics));
        }

        void refuse(ErrorCode error) {
            // Old producers treat the first error as fatal, and retry after the second.
            boolean unknown = error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
                    && context.apiVersion() < FIRST_VERSION_WITH_LOADING;
            ErrorCode told = unknown ? ErrorCode.COORDINATOR_NOT_AVAILABLE : error;
            waiting.forEach(result -> result.setErrorCode(told.code()));
            context.respond(new TxnOffsetCommitResponse().setTopics(topics));
        }
    }
}
