package io.journalq.server.network;

import io.netty.channel.Channel;

/** Speaks one protocol on the connections of a listener. Any thread. */
@FunctionalInterface
public interface Door {
    /**
     * Fills the pipeline of a connection that was just accepted. Called on the loop of the connection.
     *
     * @param loop shared by the connections of that loop
     */
    AcceptedConnection open(Channel channel, LoopContext loop, String listenerName);

    /**
     * Prepares what connections need, when the first of them arrives. Called on the loop of the listener, and again with
     * a later connection if it has failed.
     *
     * @param onReady must be called when {@link #open} may be called, on any thread
     * @param onFailure must be called when that is not possible now, on any thread
     */
    default void prepare(Runnable onReady, Runnable onFailure) {
        onReady.run();
    }
}
