package io.journalq.server.api.admin.cluster;

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

/**
 * AddRaftVoter, versions 0 and 1 (KIP-853): adds a running broker to the voters of the quorum. Brokers that join a cluster
 * send it, and so can clients. Repeating it changes nothing. The response is sent when the quorum has committed the
 * change, in version 1, too, if the client does not ask for that. A broker that is alone responds INVALID_REQUEST.
 */
public final class AddRaftVoterHandler implements Handler<AddRaftVoterRequest> {
    private static final int MAX_PORT = 65_535;

    private final Supplier<MetadataImage> images;
    private final Controller controller;

    public AddRaftVoterHandler(Supplier<MetadataImage> images, Controller controller) {
        this.images = images;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ADD_RAFT_VOTER, 0, 1, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, AddRaftVoterRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            refuse(context, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial());
            return;
        }
        String clusterId = images.get().clusterId();
        if (request.clusterId() != null && !clusterId.equals(request.clusterId())) {
            refuse(
                    context,
                    ErrorCode.INCONSISTENT_CLUSTER_ID,
                    "it belongs to cluster " + request.clusterId() + ", and this is cluster " + clusterId);
            return;
        }
        String problem = problem(request);
        if (problem != null) {
            refuse(context, ErrorCode.INVALID_REQUEST, problem);
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

    /** What is wrong with a voter; null if nothing is. */
    private static String problem(AddRaftVoterRequest request) {
        if (request.voterId() < 0) {
            return "the id of a voter is not negative";
        }
        if (request.listeners().size() != 1) {
            return "a voter has one listener, its quorum.listener";
        }
        AddRaftVoterRequest.Listener listener = request.listeners().get(0);
        return listener.host().isBlank() || listener.port() < 1 || listener.port() > MAX_PORT
                ? "a listener has a host and a port from 1 to " + MAX_PORT
                : null;
    }

    private static void refuse(RequestContext context, ErrorCode error, String reason) {
        context.respond(new AddRaftVoterResponse().setErrorCode(error.code()).setErrorMessage(reason));
    }
}
