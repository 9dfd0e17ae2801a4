package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.DeleteAclsRequest;
import io.journalq.common.protocol.message.DeleteAclsResponse;
import io.journalq.common.protocol.message.DeleteAclsResponse.DeleteAclsFilterResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;

/** DeleteAcls, versions 1 to 3: SECURITY_DISABLED for each filter, as Kafka responds without an authorizer. */
public final class DeleteAclsHandler implements Handler<DeleteAclsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DELETE_ACLS, 1, 3, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DeleteAclsRequest request) {
        context.respond(new DeleteAclsResponse()
                .setFilterResults(request.filters().stream()
                        .map(filter -> new DeleteAclsFilterResult()
                                .setErrorCode(DescribeAclsHandler.NO_AUTHORIZER.code())
                                .setErrorMessage(DescribeAclsHandler.NO_AUTHORIZER_MESSAGE))
                        .toList()));
    }
}
