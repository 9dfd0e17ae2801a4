package io.journalq.server.gateway.http;

import io.journalq.common.protocol.frame.FrameReads;
import io.journalq.server.api.ClientSession;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCalls;
import io.journalq.server.gateway.guard.RequestGuard;
import io.journalq.server.network.AcceptedConnection;
import io.journalq.server.network.Door;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.Transport;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.journalq.server.security.sasl.HttpLogins;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.security.cert.X509Certificate;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** Speaks HTTP/1.1 on the connections of the gateway's listener. Any thread. */
public final class HttpDoor implements Door {
    /** Connections of the whole gateway. */
    public static final int MAX_CONNECTIONS = 2_000;

    private static final int SMALLEST_READ_BYTES = 2 * 1024;
    private static final int LARGEST_READ_BYTES = 64 * 1024;
    private static final int READS_AT_A_TIME = 4;

    /**
     * What a client that does not read its response can hold in the channel, besides what it is sent in one piece. It gets
     * more when the socket has taken all of it: the buffer of the socket bridges the time until then.
     */
    private static final WriteBufferWaterMark UNSENT = new WriteBufferWaterMark(1, 32 * 1024);

    /** The same for streams that do not end. There can be many of them. */
    static final WriteBufferWaterMark UNSENT_OF_STREAM = new WriteBufferWaterMark(1, 16 * 1024);

    /** The same for such a client if there are many of them, and what it is sent in one piece. */
    static final int PART_BYTES_OF_MANY = 8 * 1024;

    static final WriteBufferWaterMark UNSENT_OF_MANY = new WriteBufferWaterMark(1, PART_BYTES_OF_MANY);

    /**
     * What the kernel takes for such a client, besides what it can receive, if there are many of them. Without a limit, it
     * takes some MiB for one that does not read. 1,000 of these reach its limit for all sockets (tcp_mem), and it takes
     * memory away from the connections of others. A few may have more, because a large buffer wakes the loop less often.
     */
    static final long KERNEL_BYTES_OF_STREAM = 256 * 1024;

    static final int FEW_STREAMS = 64;

    private final Services services;
    private final Transport transport;

    /**
     * What all connections share.
     *
     * @param handlers the APIs of the broker
     * @param calls calls their handlers, here or at other brokers
     * @param clients knows who they are
     * @param throttles know which clients have used up their quotas
     */
    public record Services(
            Routes routes,
            RequestGuard guard,
            HandlerRegistry handlers,
            LocalCalls calls,
            Clients clients,
            ClientThrottles throttles,
            GatewayCounters counters) {}

    /**
     * Who the clients are.
     *
     * @param byCertificate the owner of a certificate, or the anonymous one of null. Throws {@link
     *     IllegalArgumentException} if the certificate gives the client no identity
     * @param logins checks the header {@code Authorization} of a client; null if clients need not log in
     * @param sessions opens a session; see {@link ClientSession}
     */
    public record Clients(
            Function<X509Certificate, Principal> byCertificate,
            HttpLogins logins,
            BiFunction<Principal, IntConsumer, ClientSession> sessions) {}

    /** @param transport carries requests and responses */
    public HttpDoor(Services services, Transport transport) {
        this.services = services;
        this.transport = transport;
    }

    @Override
    public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
        Transport.Line line = transport.open(channel, loop);
        RecvByteBufAllocator reads = new AdaptiveRecvByteBufAllocator(
                        SMALLEST_READ_BYTES, SMALLEST_READ_BYTES, LARGEST_READ_BYTES)
                .maxMessagesPerRead(READS_AT_A_TIME);
        channel.config().setWriteBufferWaterMark(UNSENT);
        HttpConnection connection = new HttpConnection(services, loop, channel, line, listenerName);
        channel.config()
                .setRecvByteBufAllocator(line.carriesFrames() ? new FrameReads(connection::allocate, reads) : reads);
        channel.pipeline().addLast(connection.decoder(), new HttpResponseEncoder(), connection);
        int open = services.counters().openConnections.incrementAndGet();
        channel.closeFuture()
                .addListener(closed -> services.counters().openConnections.decrementAndGet());
        if (open > MAX_CONNECTIONS) {
            services.counters().connectionsOverLimit.increment();
            connection.close("more than " + MAX_CONNECTIONS + " connections of the gateway");
        }
        return connection;
    }
}
