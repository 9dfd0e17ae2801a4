package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse.OngoingPartitionReassignment;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse.OngoingTopicReassignment;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * ListPartitionReassignments, version 0 (KIP-455): the reassignments that are in progress, of all partitions or of those
 * that the request names. In a cluster, only the controller lists them, also when it cannot be reached: another broker
 * may not know yet that one has begun, and the client would take it for done.
 */
public final class ListPartitionReassignmentsHandler implements Handler<ListPartitionReassignmentsRequest> {
    private final Controller controller;

    public ListPartitionReassignmentsHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, ListPartitionReassignmentsRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(new ListPartitionReassignmentsResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        DeferredResponse.within(
                request.timeoutMs(),
                controller.newestImage(),
                context,
                (image, failure) ->
                        failure == null ? list(request, image.topics(), image::topic) : refused(Outcome.of(failure)));
    }

    private static ListPartitionReassignmentsResponse refused(Outcome outcome) {
        return new ListPartitionReassignmentsResponse()
                .setErrorCode(outcome.error().code())
                .setErrorMessage(outcome.reason());
    }

    static ListPartitionReassignmentsResponse list(
            ListPartitionReassignmentsRequest request,
            Collection<TopicImage> all,
            Function<String, TopicImage> byName) {
        List<OngoingTopicReassignment> topics = new ArrayList<>();
        if (request.topics() == null) {
            all.forEach(topic -> add(topics, topic, null));
        } else {
            // There may be very many numbers, and the client chooses them: not an immutable set, which finds some
            // slowly.
            Map<String, Set<Integer>> wanted = new LinkedHashMap<>();
            for (ListPartitionReassignmentsTopics asked : request.topics()) {
                wanted.computeIfAbsent(asked.name(), none -> new HashSet<>()).addAll(asked.partitionIndexes());
            }
            wanted.forEach((name, numbers) -> {
                TopicImage topic = byName.apply(name);
                if (topic != null) {
                    add(topics, topic, numbers);
                }
            });
        }
        return new ListPartitionReassignmentsResponse().setTopics(topics);
    }

    /** @param numbers null for all partitions */
    private static void add(List<OngoingTopicReassignment> topics, TopicImage topic, Set<Integer> numbers) {
        List<OngoingPartitionReassignment> partitions = new ArrayList<>();
        for (int number = 0; number < topic.partitions().size(); number++) {
            PartitionImage partition = topic.partitions().get(number);
            if (partition.reassignment().isInProgress() && (numbers == null || numbers.contains(number))) {
                partitions.add(new OngoingPartitionReassignment()
                        .setPartitionIndex(number)
                        .setReplicas(partition.replicas())
                        .setAddingReplicas(partition.reassignment().adding())
                        .setRemovingReplicas(partition.reassignment().removing()));
            }
        }
        if (!partitions.isEmpty()) {
            topics.add(new OngoingTopicReassignment().setName(topic.name()).setPartitions(partitions));
        }
    }
}
