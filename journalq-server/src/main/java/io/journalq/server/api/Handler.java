package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;

/**
 * Serves one API. Called on the loop of the connection that the request came in on and must not block: what may block
 * goes elsewhere and answers from there. Every request is answered exactly once, on any thread, through its context.
 *
 * @param <Q> the request's type
 */
@FunctionalInterface
public interface Handler<Q extends ApiMessage> {
    /**
     * Works on a request, or has it worked on. The request and every slice in it live until the answer is given;
     * whoever keeps a slice longer retains it.
     */
    void handle(RequestContext context, Q request);
}
