package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetDeleteRequest;
import io.journalq.common.protocol.message.OffsetDeleteResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** OffsetDelete, version 0 (KIP-496): deletes committed offsets of a group in topics that it is not subscribed to. */
public final class OffsetDeleteHandler implements Handler<OffsetDeleteRequest> {
    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public OffsetDeleteHandler(Coordinators<GroupMachine> groups, Supplier<MetadataImage> images) {
        this.groups = groups;
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.OFFSET_DELETE, 0, 0, AccessRule.asks(Right.DELETE_GROUP, Right.READ_TOPIC));
    }

    @Override
    public void handle(RequestContext context, OffsetDeleteRequest request) {
        if (!context.allows(Right.DELETE_GROUP, request.groupId())) {
            refuse(context, ErrorCode.GROUP_AUTHORIZATION_FAILED);
            return;
        }
        Set<String> denied = new TreeSet<>();
        for (OffsetDeleteRequest.OffsetDeleteRequestTopic topic : request.topics()) {
            if (!context.allows(Right.READ_TOPIC, topic.name())) {
                denied.add(topic.name());
            }
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> replies.<OffsetDeleteResponse>to(
                                context::respond, error -> refuse(context, error))
                        .send(delete(machine, request, denied)),
                error -> refuse(context, error));
    }

    private OffsetDeleteResponse delete(GroupMachine machine, OffsetDeleteRequest request, Set<String> denied) {
        ErrorCode error = machine.offsets().checkDelete(request.groupId());
        if (error != ErrorCode.NONE) {
            return refusal(error);
        }
        MetadataImage image = images.get();
        List<OffsetDeleteResponse.OffsetDeleteResponseTopic> topics = new ArrayList<>();
        for (OffsetDeleteRequest.OffsetDeleteRequestTopic wanted : request.topics()) {
            TopicImage topic = image.topic(wanted.name());
            List<OffsetDeleteResponse.OffsetDeleteResponsePartition> partitions = new ArrayList<>();
            for (OffsetDeleteRequest.OffsetDeleteRequestPartition partition : wanted.partitions()) {
                int index = partition.partitionIndex();
                boolean exists = topic != null
                        && index >= 0
                        && index < topic.partitions().size();
                ErrorCode outcome = denied.contains(wanted.name())
                        ? ErrorCode.TOPIC_AUTHORIZATION_FAILED
                        : exists
                                ? machine.offsets().delete(request.groupId(), wanted.name(), index)
                                : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
                partitions.add(new OffsetDeleteResponse.OffsetDeleteResponsePartition()
                        .setPartitionIndex(index)
                        .setErrorCode(outcome.code()));
            }
            topics.add(new OffsetDeleteResponse.OffsetDeleteResponseTopic()
                    .setName(wanted.name())
                    .setPartitions(partitions));
        }
        return new OffsetDeleteResponse().setTopics(topics);
    }

    private static OffsetDeleteResponse refusal(ErrorCode error) {
        return new OffsetDeleteResponse().setErrorCode(error.code()).setTopics(List.of());
    }

    private static void refuse(RequestContext context, ErrorCode error) {
        context.respond(refusal(error));
    }
}
