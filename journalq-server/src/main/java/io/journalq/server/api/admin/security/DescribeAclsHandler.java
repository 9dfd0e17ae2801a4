package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;

/** DescribeAcls, versions 1 to 3: SECURITY_DISABLED, as Kafka responds without an authorizer. */
public final class DescribeAclsHandler implements Handler<DescribeAclsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_ACLS, 1, 3);
    }

    @Override
    public void handle(RequestContext context, DescribeAclsRequest request) {
        context.respond(new DescribeAclsResponse()
                .setErrorCode(NoAuthorizer.ERROR_CODE)
                .setErrorMessage(NoAuthorizer.ERROR_MESSAGE));
    }
}
