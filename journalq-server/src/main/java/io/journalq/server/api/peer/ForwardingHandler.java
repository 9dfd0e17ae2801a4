package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.util.concurrent.CompletableFuture;

/**
 * Serves an API whose requests only the controller can serve. If another broker is the controller, the request is passed
 * on to it in an envelope. If it cannot be reached, the handler of this broker responds NOT_CONTROLLER, so that the
 * client sends the request again.
 *
 * @param <Q> the type of the request
 */
public final class ForwardingHandler<Q extends ApiMessage> implements Handler<Q> {
    private final Handler<Q> here;
    private final Forwarder forwarder;

    /** Passes requests on to the controller. */
    @FunctionalInterface
    public interface Forwarder {
        /**
         * Passes a request on to another broker.
         *
         * @return the response, on any thread; fails if there is none. Null if no other broker is the controller
         */
        CompletableFuture<ApiMessage> forward(RequestContext context, ApiMessage request);
    }

    public ForwardingHandler(Handler<Q> here, Forwarder forwarder) {
        this.here = here;
        this.forwarder = forwarder;
    }

    @Override
    public ServedApi api() {
        return here.api();
    }

    @Override
    public void handle(RequestContext context, Q request) {
        CompletableFuture<ApiMessage> forwarded = forwarder.forward(context, request);
        if (forwarded == null) {
            here.handle(context, request);
            return;
        }
        var unused = forwarded.whenComplete((response, failure) -> {
            if (failure == null) {
                context.respond(response);
            } else {
                context.cycle().execute(() -> here.handle(context, request));
            }
        });
    }

    /** Serves a request that another broker has passed on. */
    @SuppressWarnings("unchecked") // of the API of this handler
    void handleEnveloped(RequestContext context, ApiMessage request) {
        here.handle(context, (Q) request);
    }
}
