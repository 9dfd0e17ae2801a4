package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import java.net.SocketAddress;
import java.util.function.Supplier;

/** A request without its body, and the way to respond. Any thread unless a method says otherwise. */
public interface RequestContext {
    /** The version of the API in which the request arrived, and in which the response is sent. */
    short apiVersion();

    /** The client id that the client sent; may be null. */
    String clientId();

    /** The identity of the client. */
    Principal principal();

    /** The login of the client; null if the listener requires none. On the loop of the client. */
    default Login login() {
        return null;
    }

    /**
     * Whether the client has a right on a resource. Each denial is audited. On the loop of the client.
     *
     * @param right one of the rights in the rule of the API
     * @param name the name of the resource
     */
    boolean allows(Right right, String name);

    /**
     * What a response tells the client about the right that {@link #allows} has just denied: the id of the event in the
     * audit log, and not the reason. Null if it was not denied. On the loop of the client, before the next question for a
     * right.
     */
    String denial();

    /** Whether the client has a right on the cluster, as {@link #allows(Right, String)}. */
    default boolean allows(Right right) {
        return allows(right, AclResourceType.CLUSTER_NAME);
    }

    /**
     * Whether the client has a right on a resource, if another right would do as well. As {@link #allows}, but a denial
     * is not audited: the caller asks for the other right then. On the loop of the client.
     *
     * @param right one of the rights in the rule of the API
     */
    default boolean grants(Right right, String name) {
        return sees(right, name) && allows(right, name);
    }

    /**
     * Whether the client has a right on a resource, for lists that leave out what the client may not see. Nothing is
     * audited. Any thread.
     *
     * @param right one of the rights in the rule of the API
     */
    boolean sees(Right right, String name);

    /** Whether rights are enforced. If not, every client may do everything. Any thread. */
    boolean enforcesRights();

    /** The operations that the client may perform on a resource, as bits of KIP-430. Nothing is audited. Any thread. */
    int authorizedOperations(AclResourceType type, String name);

    /** Whether the client has a right on at least one resource. A denial is audited. Any thread. */
    boolean allowsSome(Right right);

    /** The number of clients that get the records of the response, which counters of records count. On the loop. */
    default int receivers() {
        return 1;
    }

    int correlationId();

    SocketAddress remoteAddress();

    /** The address at which the client reached the broker. */
    SocketAddress localAddress();

    /** Name of the listener that the client connected to. */
    String listenerName();

    /** The cycle of the client's loop, on which handlers are called. */
    LoopCycle cycle();

    /**
     * Responds. Takes ownership of the records in the response, even if the client has disconnected. Over a connection
     * of the Kafka protocol, the response is sent after those to its earlier requests.
     */
    void respond(ApiMessage response);

    /** Ends a request that has no response. */
    void respondNothing();

    /** The requests of this connection count against no quotas, because they are another broker's. */
    default void exemptFromQuotas() {}

    /** Whether the client is still connected, as far as the broker knows. */
    default boolean isConnected() {
        return true;
    }

    /**
     * Runs {@code work}, which creates a large response, once the client has read most of its earlier responses, or
     * when it has disconnected. On the client's loop.
     */
    default void whenRead(Runnable work) {
        work.run();
    }

    /**
     * Runs {@code work}, which allocates memory for a large response, once that much memory for responses is available
     * and the earlier responses of the connection are sent, or when the client has disconnected. On the client's loop,
     * once for a request.
     */
    default void whenRoom(long sizeBytes, Runnable work) {
        work.run();
    }

    /**
     * Whether {@link #whenRoom} is asked for all records that are copied into memory, and for nothing else. Otherwise few
     * copied records need no room.
     */
    default boolean countsRecords() {
        return false;
    }

    /**
     * Whether the records of the response must be in memory, because they are not sent as they are. Otherwise they may be
     * regions of files.
     */
    default boolean wantsMemory() {
        return false;
    }

    /** Closes the connection without a response, and logs one line with {@code reason}. */
    void refuse(String reason);

    /**
     * State that a handler keeps for the client, created at first use. If it is {@link AutoCloseable}, it is closed at
     * the end of the connection. On the client's loop.
     */
    <T> T connectionState(Class<T> type, Supplier<T> first);
}
