package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.common.protocol.message.DescribeAclsResponse.AclDescription;
import io.journalq.common.protocol.message.DescribeAclsResponse.DescribeAclsResource;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DescribeAcls, versions 1 to 3: the ACLs that a filter selects, in a fixed order. If rights are not enforced, the
 * response is SECURITY_DISABLED, as in Kafka without an authorizer.
 */
public final class DescribeAclsHandler implements Handler<DescribeAclsRequest> {
    /** Kafka's error for requests about access control in a cluster without an authorizer. */
    static final ErrorCode NO_AUTHORIZER = ErrorCode.SECURITY_DISABLED;

    static final String NO_AUTHORIZER_MESSAGE = "No Authorizer is configured.";

    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public DescribeAclsHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_ACLS, 1, 3, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeAclsRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(refusal(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial()));
            return;
        }
        if (!context.enforcesRights()) {
            context.respond(refusal(NO_AUTHORIZER, NO_AUTHORIZER_MESSAGE));
            return;
        }
        AclFilter filter;
        try {
            filter = AclMessages.filter(request);
        } catch (IllegalArgumentException wrong) {
            context.respond(refusal(ErrorCode.INVALID_REQUEST, wrong.getMessage()));
            return;
        }
        List<DescribeAclsResource> resources = new ArrayList<>();
        AclResource last = null;
        for (Acl acl : images.get().acls().select(filter)) {
            if (!acl.resource().equals(last)) {
                last = acl.resource();
                resources.add(new DescribeAclsResource()
                        .setResourceType(last.type().code())
                        .setPatternType(last.pattern().code())
                        .setResourceName(last.name())
                        .setAcls(new ArrayList<>()));
            }
            resources
                    .get(resources.size() - 1)
                    .acls()
                    .add(new AclDescription()
                            .setPrincipal(acl.principal())
                            .setHost(acl.host())
                            .setOperation(acl.operation().code())
                            .setPermissionType(acl.permission().code()));
        }
        context.respond(new DescribeAclsResponse().setResources(resources));
    }

    private static DescribeAclsResponse refusal(ErrorCode error, String message) {
        return new DescribeAclsResponse().setErrorCode(error.code()).setErrorMessage(message);
    }
}
