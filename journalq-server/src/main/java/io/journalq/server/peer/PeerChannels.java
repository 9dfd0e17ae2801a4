package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.Loop;
import java.util.concurrent.CompletableFuture;

/** Sends requests to other brokers. Any thread. */
public interface PeerChannels extends AutoCloseable {
    /**
     * Sends a request. Requests to one address arrive in order.
     *
     * @param version of the API of the request, which the other broker must serve
     * @param timeoutMs the future fails if there is no response after this time
     * @return the response. The future fails with an {@link java.io.IOException} if the broker cannot be reached, closes
     *     the connection or does not respond in time. In these cases, it is not known whether it has done what the
     *     request asks for
     */
    CompletableFuture<ApiMessage> send(String host, int port, ApiMessage request, int version, int timeoutMs);

    /**
     * Opens a connection of its own, for requests that are large or wait for long.
     *
     * @param loop the loop on which responses arrive
     */
    PeerChannel open(String host, int port, Loop loop);

    /** Closes all connections. Requests without a response fail. */
    @Override
    void close();
}
