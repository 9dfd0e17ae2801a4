package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.CreateAclsRequest;
import io.journalq.common.protocol.message.CreateAclsResponse;
import io.journalq.common.protocol.message.CreateAclsResponse.AclCreationResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;

/** CreateAcls, versions 1 to 3: SECURITY_DISABLED for each ACL, as Kafka responds without an authorizer. */
public final class CreateAclsHandler implements Handler<CreateAclsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.CREATE_ACLS, 1, 3, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, CreateAclsRequest request) {
        context.respond(new CreateAclsResponse()
                .setResults(request.creations().stream()
                        .map(creation -> new AclCreationResult()
                                .setErrorCode(DescribeAclsHandler.NO_AUTHORIZER.code())
                                .setErrorMessage(DescribeAclsHandler.NO_AUTHORIZER_MESSAGE))
                        .toList()));
    }
}
