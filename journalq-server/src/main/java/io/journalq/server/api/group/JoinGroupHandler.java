package io.journalq.server.api.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.shard.coordinator.Coordinators;

/** JoinGroup, versions 0 to 9: a client becomes a member of a classic group, or joins again for the next generation. The
 * answer comes when everybody has joined (KIP-345 static members, KIP-394 known ids, KIP-559 protocol in the answer,
 * KIP-800 reasons, KIP-814 skipped assignments). */
public final class JoinGroupHandler implements Handler<JoinGroupRequest> {
    private final Coordinators<GroupMachine> groups;

    public JoinGroupHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public void handle(RequestContext context, JoinGroupRequest request) {
        if (!MemberLimits.isWithin(request)) {
            context.respond(refusal(context, request, MemberLimits.exceeded(context)));
            return;
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onJoinGroup(
                        Clients.originOf(context),
                        context.apiVersion(),
                        request,
                        nowMs,
                        replies.to(
                                response -> Clients.respond(context, response, ErrorCode.of(response.errorCode())),
                                error -> context.respond(refusal(context, request, error)))),
                error -> context.respond(refusal(context, request, error)));
    }

    private static JoinGroupResponse refusal(RequestContext context, JoinGroupRequest request, ErrorCode error) {
        return GroupMachine.joinRefusal(context.apiVersion(), error, request.memberId());
    }
}
