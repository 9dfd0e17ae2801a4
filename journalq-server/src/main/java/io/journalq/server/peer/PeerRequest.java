package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** A request to another broker, until it has its response or has failed. */
record PeerRequest(ApiMessage request, short version, CompletableFuture<ApiMessage> response) {
    PeerRequest(ApiMessage request, short version) {
        this(request, version, new CompletableFuture<>());
    }

    void fail(IOException reason) {
        response.completeExceptionally(reason);
    }
}
