package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;

/** Heartbeat, versions 0 to 4: a member of a classic group signals that it is alive, and learns of rebalances. */
public final class HeartbeatHandler implements Handler<HeartbeatRequest> {
    private final Coordinators<GroupMachine> groups;

    public HeartbeatHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.HEARTBEAT, 0, 4, AccessRule.asks(Right.READ_GROUP));
    }

    @Override
    public void handle(RequestContext context, HeartbeatRequest request) {
        if (!context.allows(Right.READ_GROUP, request.groupId())) {
            context.respond(refusal(ErrorCode.GROUP_AUTHORIZATION_FAILED));
            return;
        }
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onHeartbeat(
                        request, nowMs, replies.to(context::respond, error -> context.respond(refusal(error)))),
                error -> context.respond(refusal(error)));
    }

    private static HeartbeatResponse refusal(ErrorCode error) {
        return new HeartbeatResponse().setErrorCode(error.code());
    }
}
