package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;

/** ListPartitionReassignments, version 0 (KIP-455): none is ever in progress in a cluster of one broker. */
public final class ListPartitionReassignmentsHandler implements Handler<ListPartitionReassignmentsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0);
    }

    @Override
    public void handle(RequestContext context, ListPartitionReassignmentsRequest request) {
        context.respond(new ListPartitionReassignmentsResponse());
    }
}
