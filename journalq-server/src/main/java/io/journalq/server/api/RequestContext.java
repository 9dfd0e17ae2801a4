package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.security.Principal;
import java.net.SocketAddress;
import java.util.function.Supplier;

/** What a handler knows of a request besides its body, and the way to respond. Any thread unless a method says otherwise. */
public interface RequestContext {
    /** The version of the API in which the request arrived, and in which the response is sent. */
    short apiVersion();

    /** The name that the client gives itself; may be null. */
    String clientId();

    /** The identity that the request acts under. */
    Principal principal();

    int correlationId();

    SocketAddress remoteAddress();

    /** The address at which the client reached the broker. */
    SocketAddress localAddress();

    /** Name of the listener that the client connected to. */
    String listenerName();

    /** The cycle of the client's loop: handlers are called on it. */
    LoopCycle cycle();

    /**
     * Responds. Takes over the records in the response, also when the client is gone. Over a connection of the Kafka
     * protocol, the response is sent after those to its earlier requests.
     */
    void respond(ApiMessage response);

    /** Ends a request that has no response. */
    void respondNothing();

    /** Whether the client is still there, as far as the broker knows. */
    default boolean isConnected() {
        return true;
    }

    /**
     * Runs {@code work}, which makes a large response, once the client has read most of its earlier responses; also when
     * the client is gone. On the client's loop.
     */
    default void whenRead(Runnable work) {
        work.run();
    }

    /**
     * Runs {@code work}, which takes memory for a large response, once the broker has that much memory for responses and
     * the earlier responses of the connection are sent; also when the client is gone. On the client's loop, once for a
     * request.
     */
    default void whenRoom(long sizeBytes, Runnable work) {
        work.run();
    }

    /** Closes the connection without a response, with one log line that gives {@code reason}. */
    void refuse(String reason);

    /**
     * What a handler keeps for the client, made at first use. It is closed at the end of the connection if it is {@link
     * AutoCloseable}. On the client's loop.
     */
    <T> T connectionState(Class<T> type, Supplier<T> first);
}
