package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;

/**
 * Serves the requests of clients that another broker passes on, because this broker is the controller (KIP-590). If it
 * is not, the response in the envelope is NOT_CONTROLLER, and the client sends its request again. Requests of {@link
 * RoutedCalls} are served as if the client had sent them here, except that no quotas apply. Version 0.
 */
public final class EnvelopeHandler implements Handler<EnvelopeRequest> {
    private final HandlerRegistry registry;
    private final PeerGate gate;
    private final int maxEntries;

    /** @param maxEntries maximum number of entries in a request, as for requests of clients */
    public EnvelopeHandler(HandlerRegistry registry, PeerGate gate, int maxEntries) {
        this.registry = registry;
        this.gate = gate;
        this.maxEntries = maxEntries;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ENVELOPE, 0, 0, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, EnvelopeRequest envelope) {
        if (!gate.admits(context, ApiKey.ENVELOPE, Right.CLUSTER_ACTION)) {
            respond(context, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, null);
            return;
        }
        try {
            open(context, envelope);
        } catch (BadFrameException | IllegalArgumentException malformed) {
            respond(context, ErrorCode.INVALID_REQUEST, null);
        }
    }

    private void open(RequestContext context, EnvelopeRequest envelope) {
        MessageReader in = new MessageReader(envelope.requestData(), maxEntries);
        RequestHeader header = Frames.readRequestHeader(in);
        HandlerRegistry.Served served = registry.find(header.requestApiKey());
        if (served == null
                || !served.serves(header.requestApiVersion())
                || !(served.handler() instanceof ForwardingHandler<?>
                        || RoutedCalls.serves(served.api().key()))) {
            respond(context, ErrorCode.UNSUPPORTED_VERSION, null);
            return;
        }
        context.exemptFromQuotas(); // They apply where the client is connected.
        ApiMessage request = ApiMessages.readRequest(served.api().key(), in, header.requestApiVersion());
        EnvelopedRequest inner = new EnvelopedRequest(
                context,
                served,
                header,
                Envelopes.principal(envelope.requestPrincipal()),
                Envelopes.address(envelope.clientHostAddress()),
                response -> respond(context, ErrorCode.NONE, response));
        if (served.handler() instanceof ForwardingHandler<?> forwarded) {
            forwarded.handleEnveloped(inner, request);
        } else {
            handle(served.handler(), inner, request);
        }
    }

    @SuppressWarnings("unchecked") // of the API of the handler
    private static <Q extends ApiMessage> void handle(Handler<Q> handler, RequestContext inner, ApiMessage request) {
        handler.handle(inner, (Q) request);
    }

    private static void respond(RequestContext context, ErrorCode error, ByteBuf response) {
        context.respond(new EnvelopeResponse().setErrorCode(error.code()).setResponseData(response));
    }
}
