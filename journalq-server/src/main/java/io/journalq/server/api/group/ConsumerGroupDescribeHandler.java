package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse.DescribedGroup;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.AuthorizedOperations;
import io.journalq.server.api.Feature;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;
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
        List<String> wanted = request.groupIds();
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
            groups.submit(
                    groupId,
                    (machine, nowMs, replies) -> replies.<DescribedGroup>to(
                                    result -> results.set(index, result),
                                    error -> results.set(index, refusal(groupId, error)))
                            .send(describe(request, machine, groupId)),
                    error -> results.set(index, refusal(groupId, error)));
        }
    }

    private static DescribedGroup describe(ConsumerGroupDescribeRequest request, GroupMachine machine, String groupId) {
        DescribedGroup group = machine.describeConsumer(groupId);
        boolean wantsOperations = request.includeAuthorizedOperations() && group.errorCode() == ErrorCode.NONE.code();
        return wantsOperations ? group.setAuthorizedOperations(AuthorizedOperations.OF_GROUP) : group;
    }

    private static DescribedGroup refusal(String groupId, ErrorCode error) {
        return new DescribedGroup().setGroupId(groupId).setErrorCode(error.code());
    }
}
