package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * A request to another broker, until it has its response or has failed.
 *
 * @param copied whether parts of the response are used after {@link PeerChannel.ResponseListener#onResponse}
 */
record PeerRequest(ApiMessage request, short version, boolean copied, PeerChannel.ResponseListener listener) {
    /** A request whose response completes {@code result}. */
    static PeerRequest of(ApiMessage request, int version, CompletableFuture<ApiMessage> result) {
        return new PeerRequest(request, (short) version, true, new PeerChannel.ResponseListener() {
            @Override
            public void onResponse(ApiMessage response) {
                result.complete(response);
            }

            @Override
            public void onFailure(IOException reason) {
                result.completeExceptionally(reason);
            }
        });
    }

    void fail(IOException reason) {
        listener.onFailure(reason);
    }
}
