package io.journalq.server.peer;

import io.journalq.common.network.NameLookups;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.Loop;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Connections to other brokers: one for each address, and those that are opened for a loop of the broker. The former are
 * opened when they are needed, and stay open. One thread runs all of them. It is started with the first request.
 */
public final class NettyPeerChannels implements PeerChannels {
    private static final int CONNECT_TIMEOUT_MS = 3_000;
    /** Responses to requests about metadata are smaller. */
    private static final int MAX_RESPONSE_BYTES = 16 << 20;

    /** A batch can be as large as {@code max.message.bytes}, and is sent whole. */
    private static final int MAX_RECORDS_RESPONSE_BYTES = (1 << 30) + (64 << 20);

    private static final int LENGTH_BYTES = 4;
    private static final int CLOSE_TIMEOUT_MS = 2_000;

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
            1, (ThreadFactory) work -> new Thread(work, "journalq-peers"), NioIoHandler.newFactory());
    private final EventLoop loop = group.next();
    private final String clientId;
    /** Null if connections are not encrypted. */
    private final PeerEncryption encryption;

    private final NameLookups names;
    /** By address. On the loop. */
    private final Map<String, PeerConnection> connections = new HashMap<>();

    /**
     * Creates channels.
     *
     * @param clientId the name of this broker in the logs of others
     * @param encryption of all connections; null if they are not encrypted
     */
    public NettyPeerChannels(String clientId, PeerEncryption encryption) {
        this(clientId, encryption, NameLookups.SYSTEM);
    }

    /** @param names looks up the hosts of other brokers */
    NettyPeerChannels(String clientId, PeerEncryption encryption, NameLookups names) {
        this.clientId = clientId;
        this.encryption = encryption;
        this.names = names;
    }

    @Override
    public CompletableFuture<ApiMessage> send(String host, int port, ApiMessage request, int version, int timeoutMs) {
        CompletableFuture<ApiMessage> result = new CompletableFuture<>();
        try {
            loop.execute(() -> {
                PeerConnection connection = connection(host, port);
                connection.send(PeerRequest.of(request, version, result));
                limit(result, connection, timeoutMs);
            });
        } catch (RejectedExecutionException closed) {
            result.completeExceptionally(new IOException("the connections to other brokers are closed", closed));
        }
        return result;
    }

    /** If there is no response in time, the other machine may be gone. Later requests then use a new connection. */
    private void limit(CompletableFuture<ApiMessage> result, PeerConnection connection, int timeoutMs) {
        var timer = loop.schedule(
                () -> connection.close("does not respond within " + timeoutMs + " ms"),
                timeoutMs,
                TimeUnit.MILLISECONDS);
        var unused = result.whenComplete((response, failure) -> timer.cancel(false));
    }

    private PeerConnection connection(String host, int port) {
        String address = host + ":" + port;
        PeerConnection open = connections.get(address);
        if (open != null && open.isUsable()) {
            return open;
        }
        PeerConnection created = new PeerConnection(address, clientId, encryption);
        connections.put(address, created);
        connect(
                created,
                loop,
                NioSocketChannel.class,
                MAX_RESPONSE_BYTES,
                InetSocketAddress.createUnresolved(host, port));
        return created;
    }

    @Override
    public PeerChannel open(String host, int port, Loop shared) {
        PeerConnection created = new PeerConnection(host + ":" + port, clientId, encryption);
        EventLoop eventLoop = EventLoops.eventLoopOf(shared);
        try {
            if (loop.isShuttingDown()) {
                throw new RejectedExecutionException();
            }
            // A failure to connect is reported after the return of this method.
            eventLoop.execute(() -> connect(
                    created,
                    eventLoop,
                    EventLoops.socketChannelType(),
                    MAX_RECORDS_RESPONSE_BYTES,
                    InetSocketAddress.createUnresolved(host, port)));
        } catch (RejectedExecutionException closed) {
            created.fail(new IOException("the connections to other brokers are closed", closed));
        }
        return new NettyPeerChannel(created, shared);
    }

    private void connect(
            PeerConnection created,
            EventLoop on,
            Class<? extends Channel> type,
            int maxResponseBytes,
            InetSocketAddress address) {
        Bootstrap bootstrap = new Bootstrap()
                .group(on)
                .channel(type)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        if (encryption != null) {
                            SslHandler tls = encryption.handler(channel, address.getHostString(), address.getPort());
                            tls.setHandshakeTimeoutMillis(CONNECT_TIMEOUT_MS);
                            channel.pipeline().addLast(tls);
                        }
                        channel.pipeline()
                                .addLast(new LengthFieldBasedFrameDecoder(
                                        maxResponseBytes, 0, LENGTH_BYTES, 0, LENGTH_BYTES))
                                .addLast(created);
                    }
                });
        names.use(bootstrap);
        bootstrap.connect(address).addListener(done -> {
            if (!done.isSuccess()) {
                created.fail(new IOException("cannot connect to " + created.address(), done.cause()));
            }
        });
    }

    @Override
    public void close() {
        try {
            loop.execute(() -> connections.values().forEach(connection -> connection.close("is not asked any more")));
        } catch (RejectedExecutionException closed) {
            return;
        }
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
    }
}
