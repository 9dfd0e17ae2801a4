package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import io.netty.channel.Channel;
import java.net.SocketAddress;

/** A client's connection as requests see it. Any thread unless a method says otherwise. */
public interface Connection {
    /** The cycle of the loop that the connection lives on. */
    LoopCycle cycle();

    SocketAddress remoteAddress();

    /** Name of the listener that accepted the connection. */
    String listenerName();

    /** The channel, for state that a layer keeps for each connection (attributes) and for its close future. */
    Channel channel();

    /** Leaves the socket unread for that time, so that a client that exceeded a quota cannot go on. 0: not at all. */
    void pause(int durationMs);

    /**
     * Runs {@code work} once the channel is writable, that is when the client has read most of its responses; also when the
     * client is gone. On the loop.
     */
    void whenWritable(Runnable work);

    /** Logs one line that names the client and the reason, counts it, and closes. */
    void refuse(String reason);
}
