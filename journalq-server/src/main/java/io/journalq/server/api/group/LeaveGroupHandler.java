package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;

/**
 * LeaveGroup, versions 0 to 5: a member leaves a classic group. From version 3, several members can leave in one
 * request, by member id or by group instance id (KIP-345).
 */
public final class LeaveGroupHandler implements Handler<LeaveGroupRequest> {
    private static final short FIRST_BATCHED_VERSION = 3;

    private final Coordinators<GroupMachine> groups;

    public LeaveGroupHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LEAVE_GROUP, 0, 5, AccessRule.asks(Right.READ_GROUP));
    }

    @Override
    public void handle(RequestContext context, LeaveGroupRequest request) {
        if (!context.allows(Right.READ_GROUP, request.groupId())) {
            refuse(context, ErrorCode.GROUP_AUTHORIZATION_FAILED);
            return;
        }
        List<LeaveGroupRequest.MemberIdentity> leaving = context.apiVersion() >= FIRST_BATCHED_VERSION
                ? request.members()
                : List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(request.memberId()));
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onLeaveGroup(
                        request.groupId(),
                        leaving,
                        nowMs,
                        replies.to(results -> respond(context, results), error -> refuse(context, error))),
                error -> refuse(context, error));
    }

    private static void respond(RequestContext context, List<LeaveGroupResponse.MemberResponse> results) {
        boolean batched = context.apiVersion() >= FIRST_BATCHED_VERSION;
        context.respond(
                batched
                        ? new LeaveGroupResponse().setMembers(results)
                        : new LeaveGroupResponse()
                                .setErrorCode(results.get(0).errorCode())
                                .setMembers(List.of()));
    }

    private static void refuse(RequestContext context, ErrorCode error) {
        context.respond(new LeaveGroupResponse().setErrorCode(error.code()).setMembers(List.of()));
    }
}
