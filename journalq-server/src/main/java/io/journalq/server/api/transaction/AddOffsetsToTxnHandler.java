package io.journalq.server.api.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.group.CoordinatorTopic;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import io.journalq.server.transaction.TransactionVersion;
import java.util.List;
import java.util.function.Consumer;

/**
 * AddOffsetsToTxn, versions 0 to 4: adds the partition with a group's offsets to a producer's transaction (KIP-98).
 * Producers of the second generation do not send this request (KIP-890).
 */
public final class AddOffsetsToTxnHandler implements Handler<AddOffsetsToTxnRequest> {
    private static final short FIRST_VERSION_WITH_FENCED = 2;

    private final Coordinators<TransactionMachine> transactions;
    private final Coordinators<GroupMachine> groups;
    private final CoordinatorTopic groupsTopic;

    /** @param groupsTopic is created for the first group in a transaction */
    public AddOffsetsToTxnHandler(
            Coordinators<TransactionMachine> transactions,
            Coordinators<GroupMachine> groups,
            CoordinatorTopic groupsTopic) {
        this.transactions = transactions;
        this.groups = groups;
        this.groupsTopic = groupsTopic;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.ADD_OFFSETS_TO_TXN, 0, 4, AccessRule.asks(Right.WRITE_TRANSACTIONAL_ID, Right.READ_GROUP));
    }

    @Override
    public void handle(RequestContext context, AddOffsetsToTxnRequest request) {
        ErrorCode denial = !context.allows(Right.WRITE_TRANSACTIONAL_ID, request.transactionalId())
                ? ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
                : context.allows(Right.READ_GROUP, request.groupId())
                        ? ErrorCode.NONE
                        : ErrorCode.GROUP_AUTHORIZATION_FAILED;
        if (denial != ErrorCode.NONE) {
            context.respond(new AddOffsetsToTxnResponse().setErrorCode(denial.code()));
            return;
        }
        var unused = groupsTopic.ensure().thenAccept(exists -> add(context, request));
    }

    private void add(RequestContext context, AddOffsetsToTxnRequest request) {
        Consumer<ErrorCode> respond = error -> context.respond(new AddOffsetsToTxnResponse()
                .setErrorCode(TransactionErrors.withFencedFrom(FIRST_VERSION_WITH_FENCED, context.apiVersion(), error)
                        .code()));
        int partition = groups.partitionOf(request.groupId());
        if (partition < 0) {
            respond.accept(ErrorCode.COORDINATOR_NOT_AVAILABLE);
            return;
        }
        ProducerClaim claim =
                new ProducerClaim(request.transactionalId(), request.producerId(), request.producerEpoch());
        ConfirmedErrors.<ErrorCode>submit(
                transactions,
                claim.transactionalId(),
                receiver -> (machine, nowMs, replies) -> machine.onAddPartitions(
                        claim,
                        List.of(new TopicPartition(groups.topic(), partition)),
                        TransactionVersion.FIRST,
                        nowMs,
                        replies.to(receiver, respond)),
                error -> error,
                respond,
                respond);
    }
}
