package io.journalq.server.network;

import io.netty.channel.Channel;
import java.security.cert.X509Certificate;

/**
 * Carries the bytes of a protocol between the handlers of a connection and its socket: as they are, or encrypted. One
 * for each listener or for several. Any thread unless a method says otherwise.
 */
public interface Transport {
    /** The socket carries the bytes of the protocol themselves. */
    Transport PLAIN = (channel, loop) -> Line.PLAIN;

    /**
     * Prepares a connection that was just accepted. Adds handlers to its pipeline, which has none yet. On the loop of the
     * connection.
     */
    Line open(Channel channel, LoopContext loop);

    /** What a protocol has to know about the transport of one connection. On its loop. */
    interface Line {
        /** The line of {@link Transport#PLAIN}. */
        Line PLAIN = new Line() {
            @Override
            public boolean carriesFrames() {
                return true;
            }

            @Override
            public long queuedBytes() {
                return 0;
            }

            @Override
            public X509Certificate clientCertificate() {
                return null;
            }
        };

        /**
         * Whether the socket carries the frames of the protocol themselves. Only then can the socket be read into the
         * buffer of a frame, and be told how many bytes of the frame to wait for.
         */
        boolean carriesFrames();

        /** Bytes of responses that have not been passed to the channel. */
        long queuedBytes();

        /** The certificate whose key the client has proven to hold; null if it has presented none. */
        X509Certificate clientCertificate();
    }
}
