package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddRaftVoterRequest;
import io.journalq.common.protocol.message.AddRaftVoterResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import java.util.function.Supplier;

/** Adds a broker that joins the cluster to the voters of the quorum. Repeating it changes nothing. Version 0. */
public final class AddRaftVoterHandler implements Handler<AddRaftVoterRequest> {
    private final Supplier<MetadataImage> images;
    private final Controller controller;
    private final PeerGate gate;

    public AddRaftVoterHandler(Supplier<MetadataImage> images, Controller controller, PeerGate gate) {
        this.images = images;
        this.controller = controller;
        this.gate = gate;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ADD_RAFT_VOTER, 0, 0, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, AddRaftVoterRequest request) {
        if (!gate.admits(context, ApiKey.ADD_RAFT_VOTER, Right.ALTER_CLUSTER)) {
            refuse(context, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "not a listener for brokers");
            return;
        }
        String clusterId = images.get().clusterId();
        if (!clusterId.equals(request.clusterId())) {
            refuse(
                    context,
                    ErrorCode.INCONSISTENT_CLUSTER_ID,
                    "it belongs to cluster " + request.clusterId() + ", and this is cluster " + clusterId);
            return;
        }
        if (request.listeners().isEmpty()) {
            refuse(context, ErrorCode.INVALID_REQUEST, "a voter needs a listener");
            return;
        }
        AddRaftVoterRequest.Listener listener = request.listeners().get(0);
        DeferredResponse.within(
                request.timeoutMs(),
                controller.addVoter(new QuorumVoter(
                        request.voterId(), request.voterDirectoryId(), listener.host(), listener.port())),
                context,
                (outcome, failure) -> {
                    Outcome result = failure == null ? outcome : Outcome.of(failure);
                    return new AddRaftVoterResponse()
                            .setErrorCode(result.error().code())
                            .setErrorMessage(result.reason());
                });
    }

    private static void refuse(RequestContext context, ErrorCode error, String reason) {
        context.respond(new AddRaftVoterResponse().setErrorCode(error.code()).setErrorMessage(reason));
    }
}
