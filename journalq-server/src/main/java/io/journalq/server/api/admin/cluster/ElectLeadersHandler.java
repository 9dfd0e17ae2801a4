package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ElectLeadersRequest;
import io.journalq.common.protocol.message.ElectLeadersRequest.TopicPartitions;
import io.journalq.common.protocol.message.ElectLeadersResponse;
import io.journalq.common.protocol.message.ElectLeadersResponse.PartitionResult;
import io.journalq.common.protocol.message.ElectLeadersResponse.ReplicaElectionResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * ElectLeaders, versions 0 to 2 (KIP-183, KIP-460). Every partition is led by its only replica, so no election is
 * needed. As the protocol requires, the response lists partitions without an election only if the request named them.
 */
public final class ElectLeadersHandler implements Handler<ElectLeadersRequest> {
    private final Supplier<MetadataImage> images;

    public ElectLeadersHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ELECT_LEADERS, 0, 2, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, ElectLeadersRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(denied(context, request));
            return;
        }
        MetadataImage image = images.get();
        List<ReplicaElectionResult> results = new ArrayList<>();
        if (request.topicPartitions() != null) {
            for (TopicPartitions asked : request.topicPartitions()) {
                TopicImage topic = image.topic(asked.topic());
                results.add(new ReplicaElectionResult()
                        .setTopic(asked.topic())
                        .setPartitionResult(asked.partitions().stream()
                                .map(partition -> result(topic, partition))
                                .toList()));
            }
        }
        context.respond(new ElectLeadersResponse().setReplicaElectionResults(results));
    }

    /** Version 0 has no error for the whole request. */
    private static ElectLeadersResponse denied(RequestContext context, ElectLeadersRequest request) {
        short error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code();
        List<ReplicaElectionResult> results = new ArrayList<>();
        if (request.topicPartitions() != null) {
            for (TopicPartitions asked : request.topicPartitions()) {
                results.add(new ReplicaElectionResult()
                        .setTopic(asked.topic())
                        .setPartitionResult(asked.partitions().stream()
                                .map(partition -> new PartitionResult()
                                        .setPartitionId(partition)
                                        .setErrorCode(error))
                                .toList()));
            }
        }
        ElectLeadersResponse response = new ElectLeadersResponse().setReplicaElectionResults(results);
        return context.apiVersion() >= 1 ? response.setErrorCode(error) : response;
    }

    private static PartitionResult result(TopicImage topic, int partition) {
        PartitionResult result = new PartitionResult().setPartitionId(partition);
        return topic != null && topic.hasPartition(partition)
                ? result.setErrorCode(ErrorCode.ELECTION_NOT_NEEDED.code())
                        .setErrorMessage("the partition is led by its only replica")
                : result.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                        .setErrorMessage("there is no such partition");
    }
}
