package io.journalq.server.network;

import io.netty.channel.Channel;

/** A connection as the acceptor and {@link IdleConnections} see it, whatever protocol it speaks. On its loop. */
public interface AcceptedConnection {
    /** Any thread. */
    Channel channel();

    /** Reads no more, and closes once everything that was read has its response. Any thread. */
    void drain();

    /** Closes, with a line in the log. */
    void close(String reason);

    /**
     * How long nothing has completed here, as far as earlier calls saw. A client that waits for a response is not idle. A
     * client that does not read its responses is.
     */
    long idleNanos(long nowNanos);

    /**
     * Whether the client holds memory for which others wait, and has transferred too little for a while. Called repeatedly
     * while others wait.
     *
     * @param begins whether nobody waited until now
     */
    boolean isStalling(long nowNanos, boolean begins);
}
