package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;

/**
 * JoinGroup, versions 0 to 9: a client joins a classic group, or rejoins it for the next generation. The response is
 * sent when all members have joined (KIP-345 static members, KIP-394 known member ids, KIP-559 protocol in the
 * response, KIP-800 reasons, KIP-814 skipped assignments).
 */
public final class JoinGroupHandler implements Handler<JoinGroupRequest> {
    private final Coordinators<GroupMachine> groups;
    private final GroupRefusals refusals;

    /** @param refusals logs requests that exceed limits */
    public JoinGroupHandler(Coordinators<GroupMachine> groups, GroupRefusals refusals) {
        this.groups = groups;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.JOIN_GROUP, 0, 9, AccessRule.asks(Right.READ_GROUP));
    }

    @Override
    public void handle(RequestContext context, JoinGroupRequest request) {
        if (!context.allows(Right.READ_GROUP, request.groupId())) {
            context.respond(refusal(context, request, ErrorCode.GROUP_AUTHORIZATION_FAILED));
            return;
        }
        if (!MemberLimits.isWithin(request)) {
            context.respond(refusal(context, request, refusals.memberTooLarge(context, request.groupId())));
            return;
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onJoinGroup(
                        MemberLimits.originOf(context),
                        context.apiVersion(),
                        request,
                        nowMs,
                        replies.to(
                                response -> respond(context, request, response),
                                error -> context.respond(refusal(context, request, error)))),
                error -> context.respond(refusal(context, request, error)));
    }

    private void respond(RequestContext context, JoinGroupRequest request, JoinGroupResponse response) {
        refusals.report(context, request.groupId(), ErrorCode.of(response.errorCode()));
        context.respond(response);
    }

    private static JoinGroupResponse refusal(RequestContext context, JoinGroupRequest request, ErrorCode error) {
        return GroupMachine.joinRefusal(context.apiVersion(), error, request.memberId());
    }
}
