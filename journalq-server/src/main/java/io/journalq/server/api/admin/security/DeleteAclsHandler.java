package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteAclsRequest;
import io.journalq.common.protocol.message.DeleteAclsResponse;
import io.journalq.common.protocol.message.DeleteAclsResponse.DeleteAclsFilterResult;
import io.journalq.common.protocol.message.DeleteAclsResponse.DeleteAclsMatchingAcl;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DeleteAcls, versions 1 to 3: removes the ACLs that filters select, and responds with them. If rights are not enforced,
 * the response is SECURITY_DISABLED, as in Kafka without an authorizer.
 */
public final class DeleteAclsHandler implements Handler<DeleteAclsRequest> {
    /** Maximum number of ACLs that one request removes, so that a change of the metadata stays small. */
    static final int MAX_REMOVED = 10_000;

    private final Supplier<MetadataImage> images;
    private final Controller controller;

    /** @param images supplies the newest image */
    public DeleteAclsHandler(Supplier<MetadataImage> images, Controller controller) {
        this.images = images;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DELETE_ACLS, 1, 3, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DeleteAclsRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            respondToAll(context, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial());
            return;
        }
        if (!context.enforcesRights()) {
            respondToAll(
                    context, request, DescribeAclsHandler.NO_AUTHORIZER, DescribeAclsHandler.NO_AUTHORIZER_MESSAGE);
            return;
        }
        List<DeleteAclsFilterResult> results = new ArrayList<>();
        List<DeleteAclsFilterResult> pending = new ArrayList<>();
        List<AclFilter> filters = new ArrayList<>();
        int removed = 0;
        for (DeleteAclsRequest.DeleteAclsFilter wanted : request.filters()) {
            DeleteAclsFilterResult result = new DeleteAclsFilterResult();
            results.add(result);
            try {
                AclFilter filter = AclMessages.filter(wanted);
                int selected = images.get().acls().select(filter).size();
                if (removed + selected > MAX_REMOVED) {
                    result.setErrorCode(ErrorCode.POLICY_VIOLATION.code())
                            .setErrorMessage("a request can remove " + MAX_REMOVED
                                    + " ACLs; send several requests with filters that select fewer");
                } else {
                    removed += selected;
                    filters.add(filter);
                    pending.add(result);
                }
            } catch (IllegalArgumentException wrong) {
                result.setErrorCode(ErrorCode.INVALID_REQUEST.code()).setErrorMessage(wrong.getMessage());
            }
        }
        DeferredResponse.when(controller.deleteAcls(filters), context, (acls, failure) -> {
            for (int i = 0; i < pending.size(); i++) {
                if (failure != null) {
                    Outcome outcome = Outcome.of(failure);
                    pending.get(i).setErrorCode(outcome.error().code()).setErrorMessage(outcome.reason());
                } else {
                    pending.get(i)
                            .setMatchingAcls(acls.get(i).stream()
                                    .map(DeleteAclsHandler::removed)
                                    .toList());
                }
            }
            return new DeleteAclsResponse().setFilterResults(results);
        });
    }

    private static DeleteAclsMatchingAcl removed(Acl acl) {
        return new DeleteAclsMatchingAcl()
                .setResourceType(acl.resource().type().code())
                .setPatternType(acl.resource().pattern().code())
                .setResourceName(acl.resource().name())
                .setPrincipal(acl.principal())
                .setHost(acl.host())
                .setOperation(acl.operation().code())
                .setPermissionType(acl.permission().code());
    }

    private static void respondToAll(
            RequestContext context, DeleteAclsRequest request, ErrorCode error, String message) {
        context.respond(new DeleteAclsResponse()
                .setFilterResults(request.filters().stream()
                        .map(filter -> new DeleteAclsFilterResult()
                                .setErrorCode(error.code())
                                .setErrorMessage(message))
                        .toList()));
    }
}
