package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;

/** ListPartitionReassignments, version 0 (KIP-455): none is ever in progress in a cluster of one broker. */
public final class ListPartitionReassignmentsHandler implements Handler<ListPartitionReassignmentsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, ListPartitionReassignmentsRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(new ListPartitionReassignmentsResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        context.respond(new ListPartitionReassignmentsResponse());
    }
}
