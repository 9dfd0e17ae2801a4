package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.peer.PeerChannels;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Passes requests on to the controller in envelopes. Any thread. */
public final class EnvelopeForwarder implements ForwardingHandler.Forwarder {
    private static final int VERSION = 0;
    /** Longer than creating the largest number of topics in a request takes. */
    private static final int TIMEOUT_MS = 30_000;

    private final int nodeId;
    private final Supplier<Members> members;
    private final IntFunction<ListenerAddress> addresses;
    private final PeerChannels channels;

    /**
     * Creates a forwarder.
     *
     * @param members name the leader of the quorum, which is the controller
     * @param addresses of the listeners of the brokers for each other; null if unknown
     */
    public EnvelopeForwarder(
            int nodeId, Supplier<Members> members, IntFunction<ListenerAddress> addresses, PeerChannels channels) {
        this.nodeId = nodeId;
        this.members = members;
        this.addresses = addresses;
        this.channels = channels;
    }

    @Override
    public CompletableFuture<ApiMessage> forward(RequestContext context, ApiMessage request) {
        int leader = members.get().leaderId();
        ListenerAddress controller = leader == nodeId || leader == Members.NO_LEADER ? null : addresses.apply(leader);
        if (controller == null) {
            return null;
        }
        short version = context.apiVersion();
        return channels.send(
                        controller.host(), controller.port(), Envelopes.request(context, request), VERSION, TIMEOUT_MS)
                .thenCompose(response -> opened((EnvelopeResponse) response, request, version));
    }

    private static CompletableFuture<ApiMessage> opened(EnvelopeResponse response, ApiMessage request, short version) {
        return response.errorCode() == ErrorCode.NONE.code() && response.responseData() != null
                ? CompletableFuture.completedFuture(
                        Envelopes.readResponse(response.responseData(), request.apiKey(), version))
                : CompletableFuture.failedFuture(
                        new IOException("the controller refuses the envelope: " + ErrorCode.of(response.errorCode())));
    }
}
