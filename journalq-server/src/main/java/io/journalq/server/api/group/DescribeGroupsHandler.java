package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeGroupsRequest;
import io.journalq.common.protocol.message.DescribeGroupsResponse;
import io.journalq.common.protocol.message.DescribeGroupsResponse.DescribedGroup;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;

/**
 * DescribeGroups, versions 0 to 6: classic groups and their members. An unknown group has the state Dead before version
 * 6, and an error from version 6 (KIP-1043).
 */
public final class DescribeGroupsHandler implements Handler<DescribeGroupsRequest> {
    private static final short FIRST_VERSION_WITH_NOT_FOUND = 6;
    private static final String DEAD = "Dead";

    private final Coordinators<GroupMachine> groups;

    public DescribeGroupsHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_GROUPS, 0, 6, AccessRule.asks(Right.DESCRIBE_GROUP));
    }

    @Override
    public void handle(RequestContext context, DescribeGroupsRequest request) {
        // Once each. Otherwise, a short request could fill the heap.
        List<String> wanted = request.groups().stream().distinct().toList();
        OrderedResults<DescribedGroup> results = new OrderedResults<>(
                wanted.size(), all -> context.respond(new DescribeGroupsResponse().setGroups(all)));
        for (int i = 0; i < wanted.size(); i++) {
            String groupId = wanted.get(i);
            int index = i;
            if (!context.allows(Right.DESCRIBE_GROUP, groupId)) {
                // Older versions have no message.
                results.set(
                        index,
                        refusal(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED, null)
                                .setErrorMessage(
                                        context.apiVersion() >= FIRST_VERSION_WITH_NOT_FOUND
                                                ? context.denial()
                                                : null));
                continue;
            }
            groups.submit(
                    groupId,
                    (machine, nowMs, replies) -> replies.<DescribedGroup>to(
                                    result -> results.set(index, result),
                                    error -> results.set(index, refusal(groupId, error, null)))
                            .send(describe(context, request, machine, groupId)),
                    error -> results.set(index, refusal(groupId, error, null)));
        }
    }

    private static DescribedGroup describe(
            RequestContext context, DescribeGroupsRequest request, GroupMachine machine, String groupId) {
        DescribedGroup group = machine.describe(groupId);
        if (group == null) {
            return context.apiVersion() >= FIRST_VERSION_WITH_NOT_FOUND
                    ? refusal(groupId, ErrorCode.GROUP_ID_NOT_FOUND, "there is no classic group '" + groupId + "'")
                    : refusal(groupId, ErrorCode.NONE, null);
        }
        return request.includeAuthorizedOperations()
                ? group.setAuthorizedOperations(context.authorizedOperations(AclResourceType.GROUP, groupId))
                : group;
    }

    private static DescribedGroup refusal(String groupId, ErrorCode error, String message) {
        return new DescribedGroup()
                .setErrorCode(error.code())
                .setErrorMessage(message)
                .setGroupId(groupId)
                .setGroupState(error == ErrorCode.NONE || message != null ? DEAD : "")
                .setProtocolType("")
                .setProtocolData("")
                .setMembers(List.of());
    }
}
