package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignablePartition;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignableTopic;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse.ReassignableTopicResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import java.util.List;
import java.util.function.Supplier;

/**
 * AlterPartitionReassignments, versions 0 and 1 (KIP-455). A partition can only be assigned to the nodes that it is on,
 * which completes at once. No reassignment is ever in progress, so none can be cancelled.
 */
public final class AlterPartitionReassignmentsHandler implements Handler<AlterPartitionReassignmentsRequest> {
    private final Supplier<MetadataImage> images;

    public AlterPartitionReassignmentsHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, AlterPartitionReassignmentsRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(new AlterPartitionReassignmentsResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        MetadataImage image = images.get();
        context.respond(new AlterPartitionReassignmentsResponse()
                .setAllowReplicationFactorChange(request.allowReplicationFactorChange())
                .setResponses(request.topics().stream()
                        .map(topic -> response(image.topic(topic.name()), topic))
                        .toList()));
    }

    private static ReassignableTopicResponse response(TopicImage topic, ReassignableTopic asked) {
        return new ReassignableTopicResponse()
                .setName(asked.name())
                .setPartitions(asked.partitions().stream()
                        .map(partition -> response(topic, partition))
                        .toList());
    }

    private static ReassignablePartitionResponse response(TopicImage topic, ReassignablePartition asked) {
        ReassignablePartitionResponse response =
                new ReassignablePartitionResponse().setPartitionIndex(asked.partitionIndex());
        if (topic == null || !topic.hasPartition(asked.partitionIndex())) {
            return response.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                    .setErrorMessage("there is no such partition");
        }
        if (asked.replicas() == null) {
            return response.setErrorCode(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS.code())
                    .setErrorMessage("no reassignment of the partition is in progress");
        }
        List<Integer> replicas = topic.partitions().get(asked.partitionIndex()).replicas();
        return asked.replicas().equals(replicas)
                ? response
                : response.setErrorCode(ErrorCode.INVALID_REPLICA_ASSIGNMENT.code())
                        .setErrorMessage(
                                "the cluster has one broker: the partition can only be on " + replicas + " only");
    }
}
