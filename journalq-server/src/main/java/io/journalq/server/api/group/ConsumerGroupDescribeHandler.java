package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse.DescribedGroup;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse.Member;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Feature;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * ConsumerGroupDescribe, versions 0 and 1: the members of consumer groups with their current and target assignments.
 * Groups of other types are not found, and clients then send DescribeGroups. Refused while the feature {@code
 * group.version} is off.
 */
public final class ConsumerGroupDescribeHandler implements Handler<ConsumerGroupDescribeRequest> {
    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image, which has the level of the feature */
    public ConsumerGroupDescribeHandler(Coordinators<GroupMachine> groups, Supplier<MetadataImage> images) {
        this.groups = groups;
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, AccessRule.asks(Right.DESCRIBE_GROUP, Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, ConsumerGroupDescribeRequest request) {
        // Once each. Otherwise, a short request could fill the heap.
        List<String> wanted = request.groupIds().stream().distinct().toList();
        if (Feature.GROUP_VERSION.level(images.get()) == 0) {
            context.respond(new ConsumerGroupDescribeResponse()
                    .setGroups(wanted.stream()
                            .map(groupId -> refusal(groupId, ErrorCode.UNSUPPORTED_VERSION))
                            .toList()));
            return;
        }
        OrderedResults<DescribedGroup> results = new OrderedResults<>(
                wanted.size(), all -> context.respond(new ConsumerGroupDescribeResponse().setGroups(all)));
        for (int i = 0; i < wanted.size(); i++) {
            String groupId = wanted.get(i);
            int index = i;
            if (!context.allows(Right.DESCRIBE_GROUP, groupId)) {
                results.set(
                        index,
                        refusal(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED).setErrorMessage(context.denial()));
                continue;
            }
            groups.submit(
                    groupId,
                    (machine, nowMs, replies) -> replies.<DescribedGroup>to(
                                    result -> results.set(index, result),
                                    error -> results.set(index, refusal(groupId, error)))
                            .send(describe(context, request, machine, groupId)),
                    error -> results.set(index, refusal(groupId, error)));
        }
    }

    private static DescribedGroup describe(
            RequestContext context, ConsumerGroupDescribeRequest request, GroupMachine machine, String groupId) {
        DescribedGroup group = machine.describeConsumer(groupId);
        if (!seesTopics(context, group)) {
            return refusal(groupId, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                    .setErrorMessage("The group has described topic(s) that the client is not authorized to describe.");
        }
        boolean wantsOperations = request.includeAuthorizedOperations() && group.errorCode() == ErrorCode.NONE.code();
        return wantsOperations
                ? group.setAuthorizedOperations(context.authorizedOperations(AclResourceType.GROUP, groupId))
                : group;
    }

    /** Whether the client may describe all topics that the description of the group names. */
    private static boolean seesTopics(RequestContext context, DescribedGroup group) {
        Set<String> names = new TreeSet<>();
        for (Member member : group.members()) {
            names.addAll(member.subscribedTopicNames());
            member.assignment().topicPartitions().forEach(topic -> names.add(topic.topicName()));
            member.targetAssignment().topicPartitions().forEach(topic -> names.add(topic.topicName()));
        }
        return names.stream().allMatch(name -> context.sees(Right.DESCRIBE_TOPIC, name));
    }

    private static DescribedGroup refusal(String groupId, ErrorCode error) {
        return new DescribedGroup().setGroupId(groupId).setErrorCode(error.code());
    }
}
