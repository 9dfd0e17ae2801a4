package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.peer.PeerRequests;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Passes requests on to the controller in envelopes. Any thread. */
public final class EnvelopeForwarder implements ForwardingHandler.Forwarder {
    private static final int VERSION = 0;
    /** Longer than creating the largest number of topics in a request takes. */
    private static final int TIMEOUT_MS = 30_000;

    private final int nodeId;
    private final Supplier<Members> members;
    private final PeerRequests requests;

    /**
     * Creates a forwarder.
     *
     * @param members name the leader of the quorum, which is the controller
     * @param requests for envelopes only: the controller must not keep back its responses to heartbeats until it has
     *     responded to an envelope that waits for one
     */
    public EnvelopeForwarder(int nodeId, Supplier<Members> members, PeerRequests requests) {
        this.nodeId = nodeId;
        this.members = members;
        this.requests = requests;
    }

    @Override
    public CompletableFuture<ApiMessage> forward(RequestContext context, ApiMessage request) {
        int leader = members.get().leaderId();
        if (leader == nodeId || leader == Members.NO_LEADER) {
            return null;
        }
        short version = context.apiVersion();
        return requests.send(
                leader,
                Envelopes.request(context, request),
                VERSION,
                TIMEOUT_MS,
                response -> opened((EnvelopeResponse) response, request, version));
    }

    /** Reads the response in an envelope, whose memory is that of the connection. */
    private static ApiMessage opened(EnvelopeResponse response, ApiMessage request, short version) throws IOException {
        if (response.errorCode() != ErrorCode.NONE.code() || response.responseData() == null) {
            throw new IOException("the controller refuses the envelope: " + ErrorCode.of(response.errorCode()));
        }
        return Envelopes.readResponse(response.responseData(), request.apiKey(), version);
    }
}
