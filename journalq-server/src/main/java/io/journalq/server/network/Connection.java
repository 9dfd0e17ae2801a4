package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;

/** A client's connection, as requests see it. Any thread unless a method says otherwise. */
public interface Connection {
    /** The cycle of the connection's loop. */
    LoopCycle cycle();

    SocketAddress remoteAddress();

    /** Name of the listener that accepted the connection. */
    String listenerName();

    /** The certificate whose key the client has proven to hold; null if it has presented none. On the loop. */
    X509Certificate clientCertificate();

    /** The channel, for state that a layer keeps for each connection (attributes) and for its close future. */
    Channel channel();

    /** Stops reading the socket for this time, to throttle a client that exceeded a quota. 0: not at all. */
    void pause(int durationMs);

    /** Passes on no frames until {@link #goOn}. Each call needs one of that. On the loop. */
    void hold();

    /** Ends a {@link #hold}. On the loop. */
    void goOn();

    /**
     * The client has authenticated, for the first time or again. Lifts the limits of {@link PreAuthentication}. On the
     * loop.
     */
    void onAuthenticated();

    /**
     * The client has failed to authenticate: counts that, logs one line, and closes the connection. If the client is
     * given a response, it is sent before. On the loop.
     */
    void failAuthentication(AuthenticationFailure failure);

    /**
     * Runs {@code work} once the channel is writable, that is when the client has read most of its responses, or when
     * it has disconnected. On the loop.
     */
    void whenWritable(Runnable work);

    /** Closes the connection, logs one line with the client and the reason, and counts it. */
    void refuse(String reason);
}
