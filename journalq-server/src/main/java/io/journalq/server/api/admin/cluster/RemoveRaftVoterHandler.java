package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.RemoveRaftVoterRequest;
import io.journalq.common.protocol.message.RemoveRaftVoterResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import java.util.function.Supplier;

/**
 * RemoveRaftVoter, version 0 (KIP-853): removes a broker that does not run from the voters of the quorum. It keeps its
 * replicas, and votes again after AddRaftVoter. A running broker and the only voter are refused with INVALID_REQUEST.
 */
public final class RemoveRaftVoterHandler implements Handler<RemoveRaftVoterRequest> {
    /** The request has no time-out. The other voters have to commit the change. */
    private static final int TIMEOUT_MS = 30_000;

    private final Supplier<MetadataImage> images;
    private final Controller controller;

    public RemoveRaftVoterHandler(Supplier<MetadataImage> images, Controller controller) {
        this.images = images;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.REMOVE_RAFT_VOTER, 0, 0, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, RemoveRaftVoterRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            refuse(context, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial());
            return;
        }
        String clusterId = images.get().clusterId();
        if (request.clusterId() != null && !clusterId.equals(request.clusterId())) {
            refuse(context, ErrorCode.INCONSISTENT_CLUSTER_ID, "this is cluster " + clusterId);
            return;
        }
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.removeVoter(request.voterId(), request.voterDirectoryId()),
                context,
                (outcome, failure) -> {
                    Outcome result = failure == null ? outcome : Outcome.of(failure);
                    return new RemoveRaftVoterResponse()
                            .setErrorCode(result.error().code())
                            .setErrorMessage(result.reason());
                });
    }

    private static void refuse(RequestContext context, ErrorCode error, String reason) {
        context.respond(new RemoveRaftVoterResponse().setErrorCode(error.code()).setErrorMessage(reason));
    }
}
