package io.journalq.server.api.admin.cluster;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignablePartition;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignableTopic;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse.ReassignableTopicResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ReassignmentSpec;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;

/**
 * AlterPartitionReassignments, versions 0 and 1 (KIP-455): begins to move partitions to other brokers, and cancels that.
 * A partition can get more or fewer replicas, unless a request of version 1 does not allow it. The response comes when
 * the reassignments have begun or are cancelled. If replicas leave for that, it can wait for heartbeats of the others.
 */
public final class AlterPartitionReassignmentsHandler implements Handler<AlterPartitionReassignmentsRequest> {
    private final Controller controller;

    public AlterPartitionReassignmentsHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, AlterPartitionReassignmentsRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(new AlterPartitionReassignmentsResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        List<ReassignmentSpec> specs = new ArrayList<>();
        for (ReassignableTopic topic : request.topics()) {
            for (ReassignablePartition partition : topic.partitions()) {
                specs.add(new ReassignmentSpec(
                        new TopicPartition(topic.name(), partition.partitionIndex()),
                        partition.replicas(),
                        request.allowReplicationFactorChange()));
            }
        }
        DeferredResponse.within(
                request.timeoutMs(),
                controller.reassign(specs),
                context,
                (outcomes, failure) -> failure == null ? response(request, outcomes) : failed(Outcome.of(failure)));
    }

    private static AlterPartitionReassignmentsResponse failed(Outcome outcome) {
        return new AlterPartitionReassignmentsResponse()
                .setErrorCode(outcome.error().code())
                .setErrorMessage(outcome.reason());
    }

    private static AlterPartitionReassignmentsResponse response(
            AlterPartitionReassignmentsRequest request, List<Outcome> outcomes) {
        List<ReassignableTopicResponse> topics = new ArrayList<>();
        int next = 0;
        for (ReassignableTopic topic : request.topics()) {
            List<ReassignablePartitionResponse> partitions = new ArrayList<>();
            for (ReassignablePartition partition : topic.partitions()) {
                Outcome outcome = outcomes.get(next++);
                partitions.add(new ReassignablePartitionResponse()
                        .setPartitionIndex(partition.partitionIndex())
                        .setErrorCode(outcome.error().code())
                        .setErrorMessage(outcome.reason()));
            }
            topics.add(new ReassignableTopicResponse().setName(topic.name()).setPartitions(partitions));
        }
        return new AlterPartitionReassignmentsResponse()
                .setAllowReplicationFactorChange(request.allowReplicationFactorChange())
                .setResponses(topics);
    }
}
