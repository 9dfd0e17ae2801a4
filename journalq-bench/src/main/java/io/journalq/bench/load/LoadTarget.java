package io.journalq.bench.load;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** What {@link GatewayLoad} drives: a topic of a broker, and how requests, responses and messages look there. */
public abstract class LoadTarget {
    LoadTarget() {}

    abstract InetSocketAddress address();

    /** Null for plain connections. */
    abstract SslContext tls() throws IOException;

    /** The number of different requests for a number of connections. */
    abstract int requests(int connections);

    /** Makes a complete request with {@code count} messages. The number of the first message is {@code first}. */
    abstract ByteBuffer request(int number, CheckedMessages messages, int first, int count);

    /** The request that a connection sends next, after {@code sent} requests of all connections. */
    int nextRequest(int connection, long sent, int requests) {
        return (int) (sent % requests);
    }

    /** The responses of a new connection; {@code number} counts from 0. */
    abstract Responses responses(int number);

    /** Subscribes. Null if nothing is to be received. */
    abstract MessageReceiver receiver(CheckedMessages messages) throws IOException;
}
