package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;

/** DescribeAcls, versions 1 to 3: SECURITY_DISABLED, as Kafka responds without an authorizer. */
public final class DescribeAclsHandler implements Handler<DescribeAclsRequest> {
    /** Kafka's error for requests about access control in a cluster without an authorizer. */
    static final ErrorCode NO_AUTHORIZER = ErrorCode.SECURITY_DISABLED;

    static final String NO_AUTHORIZER_MESSAGE = "No Authorizer is configured.";

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_ACLS, 1, 3, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeAclsRequest request) {
        context.respond(
                new DescribeAclsResponse().setErrorCode(NO_AUTHORIZER.code()).setErrorMessage(NO_AUTHORIZER_MESSAGE));
    }
}
