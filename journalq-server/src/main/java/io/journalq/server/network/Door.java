package io.journalq.server.network;

import io.netty.channel.Channel;

/** Speaks one protocol on the connections of a listener. Any thread. */
@FunctionalInterface
public interface Door {
    /**
     * Fills the pipeline of a connection that was just accepted. Called on the loop of the connection.
     *
     * @param loop what the connections of that loop share
     */
    AcceptedConnection open(Channel channel, LoopContext loop, String listenerName);
}
