package io.journalq.server.observe;

import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.Loop;
import io.journalq.server.network.AllowedHosts;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.Transport;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.function.Supplier;

/**
 * Serves {@code GET /metrics} (Prometheus text) and {@code GET /health} over HTTP or HTTPS, on its own event loop, so that it
 * responds even if the broker's loops are busy. No client holds a thread. {@link AdminConnections} bounds what slow
 * clients can hold. Any thread.
 */
public final class AdminListener implements AutoCloseable {
    private static final int BACKLOG = 1_024;
    private static final int MAX_REQUEST_LINE_BYTES = 4 * 1024;
    private static final int MAX_HEADERS_BYTES = 12 * 1024;

    private final EventLoops loops;
    private final Supplier<Health> health;
    private final AllowedHosts hosts;
    private final AdminAccess access;
    private final MetricsPages pages;
    private Channel channel;

    private AdminListener(
            EventLoops loops,
            Supplier<PrometheusMeterRegistry> registry,
            Supplier<Health> health,
            AllowedHosts hosts,
            AdminAccess access) {
        this.loops = loops;
        this.health = health;
        this.hosts = hosts;
        this.access = access;
        this.pages = new MetricsPages(loop(), registry);
    }

    /**
     * Binds the address and serves.
     *
     * @param address with port 0 for any free one
     * @param registry returns the metrics; called for each page, by a thread of their own
     * @param health returns the broker's health; must not block
     * @param hosts the names by which clients may address the listener
     * @param access who may read which pages
     * @throws IOException when the address is unknown or in use; the message names it and the setting
     */
    public static AdminListener start(
            InetSocketAddress address,
            Supplier<PrometheusMeterRegistry> registry,
            Supplier<Health> health,
            AllowedHosts hosts,
            AdminAccess access)
            throws IOException {
        if (address.isUnresolved()) {
            throw new UnknownHostException("admin.listener: unknown host " + address.getHostString());
        }
        AdminListener listener =
                new AdminListener(new EventLoops(1, "admin-listener"), registry, health, hosts, access);
        try {
            listener.bind(address);
            return listener;
        } catch (IOException | RuntimeException failure) {
            listener.close();
            throw failure;
        }
    }

    private void bind(InetSocketAddress address) throws IOException {
        AdminConnections connections = new AdminConnections(loop());
        LoopContext context = access.contexts().apply(loops.cycles().get(0));
        HttpDecoderConfig decoding = new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_REQUEST_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADERS_BYTES);
        ChannelFuture bound = new ServerBootstrap()
                .group(loops.group(), loops.group())
                .channel(loops.serverChannelType())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel client) {
                        Transport.Line line = access.transport().open(client, context);
                        client.pipeline()
                                .addLast(
                                        new HttpServerCodec(decoding),
                                        new AdminConnection(AdminListener.this, connections, line));
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            BindException precise = new BindException("admin.listener: cannot bind " + address.getHostString() + ":"
                    + address.getPort() + ": " + bound.cause().getMessage());
            precise.initCause(bound.cause());
            throw precise;
        }
        channel = bound.channel();
    }

    /** The port that the listener is bound to. */
    public int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    Health health() {
        return health.get();
    }

    AllowedHosts hosts() {
        return hosts;
    }

    AdminAccess access() {
        return access;
    }

    MetricsPages pages() {
        return pages;
    }

    private Loop loop() {
        return loops.cycles().get(0).loop();
    }

    /** Stops serving and ends the threads. Closing twice is harmless. */
    @Override
    public void close() {
        if (channel != null) {
            channel.close().awaitUninterruptibly();
        }
        loops.close();
        pages.close();
    }
}
