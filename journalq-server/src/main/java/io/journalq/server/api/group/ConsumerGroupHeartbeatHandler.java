package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse.Assignment;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse.TopicPartitions;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Feature;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;
import java.util.function.Supplier;

/**
 * ConsumerGroupHeartbeat, versions 0 and 1: a member of the consumer protocol (KIP-848) joins, reports its partitions,
 * receives its assignment, and leaves. Version 1 adds regular expressions for topics, and ids that clients generate
 * (KIP-1082). Refused while the feature {@code group.version} is off.
 */
public final class ConsumerGroupHeartbeatHandler implements Handler<ConsumerGroupHeartbeatRequest> {
    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;
    private final GroupRefusals refusals;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image, which has the level of the feature
     * @param refusals logs requests that exceed limits
     */
    public ConsumerGroupHeartbeatHandler(
            Coordinators<GroupMachine> groups, Supplier<MetadataImage> images, GroupRefusals refusals) {
        this.groups = groups;
        this.images = images;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 1, AccessRule.asks(Right.READ_GROUP, Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, ConsumerGroupHeartbeatRequest request) {
        if (Feature.GROUP_VERSION.level(images.get()) == 0) {
            context.respond(refusal(ErrorCode.UNSUPPORTED_VERSION));
            return;
        }
        ErrorCode denial = denial(context, request);
        if (denial != ErrorCode.NONE) {
            context.respond(refusal(denial).setErrorMessage(context.denial()));
            return;
        }
        Origin origin = MemberLimits.originOf(context);
        if (!MemberLimits.isWithin(request)) {
            context.respond(refusal(refusals.memberTooLarge(context, request.groupId())));
            return;
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onConsumerHeartbeat(
                        origin,
                        context.apiVersion(),
                        request,
                        nowMs,
                        replies.to(
                                response -> respond(context, request, response),
                                error -> context.respond(refusal(error)))),
                error -> context.respond(refusal(error)));
    }

    private void respond(
            RequestContext context, ConsumerGroupHeartbeatRequest request, ConsumerGroupHeartbeatResponse response) {
        ErrorCode error = ErrorCode.of(response.errorCode());
        refusals.report(context, request.groupId(), request.subscribedTopicRegex(), error);
        context.respond(onlyVisible(context, response));
    }

    private static ErrorCode denial(RequestContext context, ConsumerGroupHeartbeatRequest request) {
        if (!context.allows(Right.READ_GROUP, request.groupId())) {
            return ErrorCode.GROUP_AUTHORIZATION_FAILED;
        }
        if (request.subscribedTopicNames() != null) {
            for (String topic : request.subscribedTopicNames()) {
                if (!context.allows(Right.DESCRIBE_TOPIC, topic)) {
                    return ErrorCode.TOPIC_AUTHORIZATION_FAILED;
                }
            }
        }
        return ErrorCode.NONE;
    }

    /** A pattern may match topics that the member may not describe. The member does not learn of them. */
    private ConsumerGroupHeartbeatResponse onlyVisible(
            RequestContext context, ConsumerGroupHeartbeatResponse response) {
        if (response.assignment() == null) {
            return response;
        }
        MetadataImage image = images.get();
        List<TopicPartitions> visible = response.assignment().topicPartitions().stream()
                .filter(topic -> sees(context, image.topic(topic.topicId())))
                .toList();
        return visible.size() == response.assignment().topicPartitions().size()
                ? response
                : response.setAssignment(new Assignment().setTopicPartitions(visible));
    }

    private static boolean sees(RequestContext context, TopicImage topic) {
        return topic == null || context.sees(Right.DESCRIBE_TOPIC, topic.name());
    }

    private static ConsumerGroupHeartbeatResponse refusal(ErrorCode error) {
        return new ConsumerGroupHeartbeatResponse().setErrorCode(error.code());
    }
}
