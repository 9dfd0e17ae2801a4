package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateAclsRequest;
import io.journalq.common.protocol.message.CreateAclsResponse;
import io.journalq.common.protocol.message.CreateAclsResponse.AclCreationResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;

/**
 * CreateAcls, versions 1 to 3: adds ACLs, each with its own result. An ACL that exists is not added again. If rights are
 * not enforced, the response is SECURITY_DISABLED, as in Kafka without an authorizer.
 */
public final class CreateAclsHandler implements Handler<CreateAclsRequest> {
    private final Controller controller;

    public CreateAclsHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.CREATE_ACLS, 1, 3, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, CreateAclsRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            respondToAll(context, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial());
            return;
        }
        if (!context.enforcesRights()) {
            respondToAll(
                    context, request, DescribeAclsHandler.NO_AUTHORIZER, DescribeAclsHandler.NO_AUTHORIZER_MESSAGE);
            return;
        }
        List<AclCreationResult> results = new ArrayList<>();
        List<AclCreationResult> pending = new ArrayList<>();
        List<Acl> acls = new ArrayList<>();
        for (CreateAclsRequest.AclCreation creation : request.creations()) {
            AclCreationResult result = new AclCreationResult();
            results.add(result);
            try {
                acls.add(AclMessages.acl(creation));
                pending.add(result);
            } catch (IllegalArgumentException wrong) {
                result.setErrorCode(ErrorCode.INVALID_REQUEST.code()).setErrorMessage(wrong.getMessage());
            }
        }
        DeferredResponse.when(controller.createAcls(acls), context, (outcomes, failure) -> {
            for (int i = 0; i < pending.size(); i++) {
                Outcome outcome = failure != null ? Outcome.of(failure) : outcomes.get(i);
                pending.get(i).setErrorCode(outcome.error().code()).setErrorMessage(outcome.reason());
            }
            return new CreateAclsResponse().setResults(results);
        });
    }

    private static void respondToAll(
            RequestContext context, CreateAclsRequest request, ErrorCode error, String message) {
        context.respond(new CreateAclsResponse()
                .setResults(request.creations().stream()
                        .map(creation -> new AclCreationResult()
                                .setErrorCode(error.code())
                                .setErrorMessage(message))
                        .toList()));
    }
}
