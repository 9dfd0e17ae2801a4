package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteGroupsRequest;
import io.journalq.common.protocol.message.DeleteGroupsResponse;
import io.journalq.common.protocol.message.DeleteGroupsResponse.DeletableGroupResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;

/** DeleteGroups, versions 0 to 2 (KIP-229): deletes groups without members, with their committed offsets. */
public final class DeleteGroupsHandler implements Handler<DeleteGroupsRequest> {
    private final Coordinators<GroupMachine> groups;

    public DeleteGroupsHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DELETE_GROUPS, 0, 2, AccessRule.asks(Right.DELETE_GROUP));
    }

    @Override
    public void handle(RequestContext context, DeleteGroupsRequest request) {
        List<String> wanted = request.groupsNames();
        OrderedResults<DeletableGroupResult> results =
                new OrderedResults<>(wanted.size(), all -> context.respond(new DeleteGroupsResponse().setResults(all)));
        for (int i = 0; i < wanted.size(); i++) {
            String groupId = wanted.get(i);
            int index = i;
            if (!context.allows(Right.DELETE_GROUP, groupId)) {
                results.set(index, result(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED));
                continue;
            }
            groups.submit(
                    groupId,
                    (machine, nowMs, replies) -> machine.onDeleteGroup(
                            groupId,
                            replies.to(
                                    outcome -> results.set(index, result(groupId, outcome)),
                                    error -> results.set(index, result(groupId, error)))),
                    error -> results.set(index, result(groupId, error)));
        }
    }

    private static DeletableGroupResult result(String groupId, ErrorCode outcome) {
        return new DeletableGroupResult().setGroupId(groupId).setErrorCode(outcome.code());
    }
}
