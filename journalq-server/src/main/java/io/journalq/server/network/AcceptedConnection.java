package io.journalq.server.network;

import io.netty.channel.Channel;

/** A connection as {@link Acceptor} and {@link IdleConnections} see it, independent of its protocol. On its loop. */
public interface AcceptedConnection {
    /** The channel of the connection. Any thread. */
    Channel channel();

    /** Stops reading, and closes after the responses to all requests that were read. Any thread. */
    void drain();

    /** Closes the connection and logs the reason. */
    void close(String reason);

    /**
     * Time for which nothing has completed on the connection, as seen by the previous calls. A client that waits for a
     * response is not idle. A client that does not read its responses is idle.
     */
    long idleNanos(long nowNanos);

    /**
     * Whether the client holds memory that others wait for, and has transferred too little in the last time window.
     * Called repeatedly while others wait.
     *
     * @param begins whether no client was waiting before this call
     */
    boolean isStalling(long nowNanos, boolean begins);
}
