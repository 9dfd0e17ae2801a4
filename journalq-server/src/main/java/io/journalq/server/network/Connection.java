package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import io.netty.channel.Channel;
import java.net.SocketAddress;

/** What the upper layers see of a client's connection. Any thread unless a method says otherwise. */
public interface Connection {
    /** The cycle of the loop that the connection lives on. */
    LoopCycle cycle();

    SocketAddress remoteAddress();

    /** Name of the listener that accepted the connection. */
    String listenerName();

    /** The channel, for state that a layer keeps for each connection (attributes) and to hear of its end. */
    Channel channel();

    /** Leaves the socket unread for that time, so that a client that used too much cannot go on; 0 for not at all. */
    void pause(int durationMs);

    /**
     * Runs {@code work} once few answers wait for the client to read them, at once if that is so; also when the client is
     * gone. On the loop.
     */
    void whenWritable(Runnable work);

    /** Logs one line that names the client and the reason, counts it, and closes. */
    void refuse(String reason);
}
