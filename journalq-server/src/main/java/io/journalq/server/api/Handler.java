package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;

/**
 * Serves one API. Called on the loop of the connection that the request arrived on, and must not block: work that may
 * block runs on another thread and responds from there. Each request gets exactly one response, from any thread,
 * through its context.
 *
 * @param <Q> the type of the request
 */
public interface Handler<Q extends ApiMessage> {
    /** The API, and the versions of it that this handler serves. ApiVersions is derived from it. */
    ServedApi api();

    /**
     * Serves a request. The request and every slice in it live until the response is given. Code that keeps a slice
     * longer retains it.
     */
    void handle(RequestContext context, Q request);
}
