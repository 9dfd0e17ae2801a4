package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.LoopCycle;
import java.net.SocketAddress;
import java.util.function.Supplier;

/** One request's surroundings, and the way back for its answer. Any thread unless a method says otherwise. */
public interface RequestContext {
    /** Version of the API in which the request came and the answer goes. */
    short apiVersion();

    /** Name that the client gives itself; may be null. */
    String clientId();

    int correlationId();

    SocketAddress remoteAddress();

    /** The broker's address as the client reached it. */
    SocketAddress localAddress();

    /** Name of the listener on which the client connected. */
    String listenerName();

    /** The cycle of the loop that the client's connection lives on. */
    LoopCycle cycle();

    /**
     * Answers. The answer goes out behind those to the connection's earlier requests. Records in it are taken over,
     * also when the client is gone meanwhile.
     */
    void respond(ApiMessage response);

    /** Ends a request that has no answer. */
    void respondNothing();

    /** Whether the client is still there, as far as the broker knows. */
    default boolean isConnected() {
        return true;
    }

    /**
     * Runs {@code work}, which makes a large answer, once the client has read most of what waits for it; also when it is
     * gone. On the connection's loop.
     */
    default void whenRead(Runnable work) {
        work.run();
    }

    /**
     * Runs {@code work}, which takes memory for a large answer, once the broker has so much for answers, and those to the
     * connection's earlier requests are sent; also when the client is gone. On the connection's loop, once for a request.
     */
    default void whenRoom(long sizeBytes, Runnable work) {
        work.run();
    }

    /** Closes the connection without an answer, with one log line that gives {@code reason}. */
    void refuse(String reason);

    /**
     * What a handler keeps for the connection, made at first use. It is closed with the connection when it is {@link
     * AutoCloseable}. On the connection's loop only.
     */
    <T> T connectionState(Class<T> type, Supplier<T> first);
}
