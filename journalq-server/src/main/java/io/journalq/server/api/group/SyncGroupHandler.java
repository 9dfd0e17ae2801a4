package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;

/**
 * SyncGroup, versions 0 to 5: a member of a classic group requests its assignment. The leader provides the assignments
 * of all members.
 */
public final class SyncGroupHandler implements Handler<SyncGroupRequest> {
    private final Coordinators<GroupMachine> groups;
    private final GroupRefusals refusals;

    /** @param refusals logs requests that exceed limits */
    public SyncGroupHandler(Coordinators<GroupMachine> groups, GroupRefusals refusals) {
        this.groups = groups;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.SYNC_GROUP, 0, 5, AccessRule.asks(Right.READ_GROUP));
    }

    @Override
    public void handle(RequestContext context, SyncGroupRequest request) {
        if (!context.allows(Right.READ_GROUP, request.groupId())) {
            context.respond(refusal(ErrorCode.GROUP_AUTHORIZATION_FAILED));
            return;
        }
        if (!MemberLimits.isWithin(request)) {
            context.respond(refusal(refusals.memberTooLarge(context, request.groupId())));
            return;
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onSyncGroup(
                        request, nowMs, replies.to(context::respond, error -> context.respond(refusal(error)))),
                error -> context.respond(refusal(error)));
    }

    private static SyncGroupResponse refusal(ErrorCode error) {
        return GroupMachine.syncRefusal(error);
    }
}
