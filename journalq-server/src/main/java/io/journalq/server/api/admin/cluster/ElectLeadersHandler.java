package io.journalq.server.api.admin.cluster;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ElectLeadersRequest;
import io.journalq.common.protocol.message.ElectLeadersRequest.TopicPartitions;
import io.journalq.common.protocol.message.ElectLeadersResponse;
import io.journalq.common.protocol.message.ElectLeadersResponse.PartitionResult;
import io.journalq.common.protocol.message.ElectLeadersResponse.ReplicaElectionResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * ElectLeaders, versions 0 to 2 (KIP-183, KIP-460): gives partitions to their preferred leaders. With type UNCLEAN, makes
 * any live replica lead a partition without a leader, if the topic allows it. As the protocol requires, the response
 * lists partitions without an election only if the request named them.
 */
public final class ElectLeadersHandler implements Handler<ElectLeadersRequest> {
    private static final byte PREFERRED = 0;
    private static final byte UNCLEAN = 1;

    private final Supplier<MetadataImage> images;
    private final Controller controller;

    public ElectLeadersHandler(Supplier<MetadataImage> images, Controller controller) {
        this.images = images;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ELECT_LEADERS, 0, 2, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, ElectLeadersRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(failed(context, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial()));
            return;
        }
        boolean named = request.topicPartitions() != null;
        List<TopicPartition> partitions = named ? named(request) : withoutPreferredLeader(images.get());
        boolean unclean = context.apiVersion() >= 1 && request.electionType() == UNCLEAN;
        if (context.apiVersion() >= 1 && !unclean && request.electionType() != PREFERRED) {
            context.respond(failed(context, request, ErrorCode.INVALID_REQUEST, "unknown type of election"));
            return;
        }
        DeferredResponse.within(
                request.timeoutMs(),
                unclean ? controller.electUncleanLeaders(partitions) : controller.electPreferredLeaders(partitions),
                context,
                (outcomes, failure) -> failure == null
                        ? response(partitions, outcomes, named)
                        : failed(context, request, Outcome.of(failure).error(), null));
    }

    private static List<TopicPartition> named(ElectLeadersRequest request) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (TopicPartitions asked : request.topicPartitions()) {
            asked.partitions().forEach(number -> partitions.add(new TopicPartition(asked.topic(), number)));
        }
        return partitions;
    }

    private static List<TopicPartition> withoutPreferredLeader(MetadataImage image) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (partition.leader() != partition.preferredLeader()) {
                    partitions.add(new TopicPartition(topic.name(), number));
                }
            }
        }
        return partitions;
    }

    private static ElectLeadersResponse response(
            List<TopicPartition> partitions, List<Outcome> outcomes, boolean withUnneeded) {
        Map<String, List<PartitionResult>> byTopic = new LinkedHashMap<>();
        for (int i = 0; i < partitions.size(); i++) {
            TopicPartition partition = partitions.get(i);
            Outcome outcome = outcomes.get(i);
            if (withUnneeded || outcome.error() != ErrorCode.ELECTION_NOT_NEEDED) {
                byTopic.computeIfAbsent(partition.topic(), none -> new ArrayList<>())
                        .add(new PartitionResult()
                                .setPartitionId(partition.partition())
                                .setErrorCode(outcome.error().code())
                                .setErrorMessage(outcome.reason()));
            }
        }
        List<ReplicaElectionResult> results = new ArrayList<>();
        byTopic.forEach((topic, ofTopic) ->
                results.add(new ReplicaElectionResult().setTopic(topic).setPartitionResult(ofTopic)));
        return new ElectLeadersResponse().setReplicaElectionResults(results);
    }

    /** Version 0 has no error for the whole request. */
    private static ElectLeadersResponse failed(
            RequestContext context, ElectLeadersRequest request, ErrorCode error, String reason) {
        List<TopicPartition> partitions = request.topicPartitions() == null ? List.of() : named(request);
        ElectLeadersResponse response =
                response(partitions, Collections.nCopies(partitions.size(), new Outcome(error, reason, null)), true);
        return context.apiVersion() >= 1 ? response.setErrorCode(error.code()) : response;
    }
}
