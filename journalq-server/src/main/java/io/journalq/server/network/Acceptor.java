package io.journalq.server.network;

import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.FileRegion;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The broker's listeners and their accepted connections, which are distributed over the event loops in turn. Each
 * listener has a {@link Door}, which speaks its protocol. Any thread.
 */
public final class Acceptor {
    private static final Logger log = LoggerFactory.getLogger(Acceptor.class);

    /** What the operator can do if an address of a listener is in use. */
    private static final String REMEDY = "set another in 'listeners'";

    private static final int BACKLOG = 1_024;
    private static final int MAX_SHORTAGE_LINES_PER_SECOND = 1;
    private static final int WRITE_LOW_WATER_BYTES = 1024 * 1024;
    private static final int WRITE_HIGH_WATER_BYTES = 4 * 1024 * 1024;
    private static final long DRAIN_POLL_MS = 5;

    /**
     * The size that counts against the high-water mark of a channel. Records that are sent from their file count too.
     * Otherwise a client that reads nothing could have any number of responses waiting.
     */
    private static final MessageSizeEstimator.Handle MESSAGE_SIZE = message -> message instanceof FileRegion region
            ? (int) Math.min(Integer.MAX_VALUE, region.count())
            : DefaultMessageSizeEstimator.DEFAULT.newHandle().size(message);

    private final EventLoops loops;
    private final ConnectionLimits limits;
    private final NetworkCounters counters;
    private final Predicate<InetAddress> admits;
    private final AcceptBackoff acceptFailures;
    private final LoopContext[] contexts;
    private final ConnectionCounts counts = new ConnectionCounts();
    private final List<Channel> listeners = new ArrayList<>();
    private final Set<AcceptedConnection> connections = ConcurrentHashMap.newKeySet();
    /** Set before the connections are told to end. Those that are added later see it. */
    private volatile boolean closing;

    /**
     * Creates an acceptor without listeners.
     *
     * @param memory shared by the connections of all loops
     * @param admits whether an address may open one more connection now. Any loop
     */
    public Acceptor(
            EventLoops loops,
            ConnectionLimits limits,
            SharedMemory memory,
            NetworkCounters counters,
            Predicate<InetAddress> admits) {
        this.loops = loops;
        this.limits = limits;
        this.admits = admits;
        this.counters = counters;
        this.acceptFailures = new AcceptBackoff(counters);
        this.contexts = new LoopContext[loops.count()];
        LogThrottle throttle = new LogThrottle(log);
        LogThrottle shortages = new LogThrottle(log, MAX_SHORTAGE_LINES_PER_SECOND);
        for (LoopCycle cycle : loops.cycles()) {
            contexts[cycle.index()] = LoopContext.of(cycle, limits, memory, counters, throttle, shortages);
        }
    }

    /**
     * Binds a listener. Connections wait until {@link #accept}.
     *
     * @param door speaks the listener's protocol
     * @param host host name or address; empty for every interface
     * @param port 0 for any free one
     * @return the port that it is bound to
     * @throws IOException with a one-line message for the operator when the address cannot be bound
     */
    public int bind(Door door, String listenerName, String host, int port) throws IOException {
        return bind(door, listenerName, host, port, REMEDY);
    }

    /**
     * As {@link #bind(Door, String, String, int)}.
     *
     * @param remedy what the operator can do if the address is in use, besides stopping the program that uses it
     */
    public int bind(Door door, String listenerName, String host, int port, String remedy) throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loops.group(), loops.group())
                .channel(loops.serverChannelType())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel listener) {
                        listener.pipeline()
                                .addLast(
                                        acceptFailures,
                                        new AcceptRateLimiter(
                                                limits.admission().maxConnectionsPerSecond(),
                                                counters,
                                                System::nanoTime),
                                        new FirstClient(door));
                    }
                })
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, (MessageSizeEstimator) () -> MESSAGE_SIZE)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(WRITE_LOW_WATER_BYTES, WRITE_HIGH_WATER_BYTES))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        initialize(door, channel, listenerName);
                    }
                })
                .bind(address(host, port))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw cannotListen(host, port, bound.cause().getMessage(), remedy, bound.cause());
        }
        synchronized (listeners) {
            listeners.add(bound.channel());
        }
        return ((InetSocketAddress) bound.channel().localAddress()).getPort();
    }

    /** Checks an address of {@code listeners}, as {@link #requireFree(String, int, String)}. */
    public static void requireFree(String host, int port) throws IOException {
        requireFree(host, port, REMEDY);
    }

    /**
     * Checks that an address can be bound, and leaves it free. No client can connect meanwhile.
     *
     * @param remedy as in {@link #bind(Door, String, String, int, String)}
     * @throws IOException as there
     */
    public static void requireFree(String host, int port, String remedy) throws IOException {
        InetSocketAddress address = address(host, port);
        if (address.isUnresolved()) {
            throw cannotListen(host, port, "unknown host", remedy, null);
        }
        try (SocketChannel socket = SocketChannel.open()) {
            socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            socket.bind(address);
        } catch (UnsupportedAddressTypeException otherFamily) {
            throw cannotListen(host, port, "this Java has no such addresses", remedy, otherFamily);
        } catch (IOException inUse) {
            throw cannotListen(host, port, inUse.getMessage(), remedy, inUse);
        }
    }

    private static InetSocketAddress address(String host, int port) {
        return host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
    }

    private static IOException cannotListen(String host, int port, String reason, String remedy, Throwable cause) {
        return new IOException(
                "cannot listen on " + (host.isEmpty() ? "*" : host) + ":" + port + ": " + reason
                        + "; stop the program that uses this address, or " + remedy,
                cause);
    }

    /** Starts accepting on every listener. The door of a listener is prepared when its first connection arrives. */
    public void accept() {
        synchronized (listeners) {
            listeners.forEach(listener -> listener.config().setAutoRead(true));
        }
    }

    /**
     * Stops accepting and reading, waits for the responses to the requests that were read, then closes every
     * connection. Blocks.
     *
     * @param timeoutMs after this time, connections are closed without their responses
     */
    public void close(long timeoutMs) {
        synchronized (listeners) {
            listeners.forEach(listener -> listener.close().awaitUninterruptibly());
            listeners.clear();
        }
        closing = true;
        connections.forEach(AcceptedConnection::drain);
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try {
            while (!connections.isEmpty() && System.nanoTime() < deadlineNanos) {
                Thread.sleep(DRAIN_POLL_MS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!connections.isEmpty()) {
            log.info("closing {} connections with requests that have no response yet", connections.size());
        }
        connections.forEach(connection -> connection.channel().close().awaitUninterruptibly(timeoutMs));
    }

    private void initialize(Door door, Channel channel, String listenerName) {
        LoopContext context = contexts[loops.cycleOf(channel.eventLoop()).index()];
        if (isAdmitted(channel, context)) {
            AcceptedConnection connection = door.open(channel, context, listenerName);
            connections.add(connection);
            channel.closeFuture().addListener(closed -> connections.remove(connection));
            if (closing) {
                // The listener was closed while the loop of this connection had not begun with it.
                channel.eventLoop().execute(connection::drain);
            }
        }
    }

    /** Counts a connection. Closes it if the broker or its address has too many. */
    private boolean isAdmitted(Channel channel, LoopContext context) {
        counters.acceptedConnections.increment();
        int open = counters.openConnections.incrementAndGet();
        // Kept because a closed channel no longer knows it.
        SocketAddress client = channel.remoteAddress();
        int openHere = counts.add(client);
        channel.closeFuture().addListener(closed -> {
            counters.openConnections.decrementAndGet();
            counts.remove(client);
        });
        ConnectionLimits.Admission admission = limits.admission();
        if (open > admission.maxConnections()) {
            counters.connectionsOverTotal.increment();
            turnAway(
                    channel,
                    context,
                    "more than " + admission.maxConnections()
                            + " connections (max.connections, or the limit on open files)");
            return false;
        }
        if (openHere > admission.maxConnectionsPerAddress()) {
            counters.connectionsOverAddress.increment();
            turnAway(
                    channel,
                    context,
                    "more than " + admission.maxConnectionsPerAddress()
                            + " connections of one address (max.connections.per.ip)");
            return false;
        }
        if (client instanceof InetSocketAddress known && !admits.test(known.getAddress())) {
            turnAway(channel, context, "more new connections of one address than its quota (connection_creation_rate)");
            return false;
        }
        return true;
    }

    /** The shared state of the connections of each loop, by loop index. */
    List<LoopContext> contexts() {
        return List.of(contexts);
    }

    private void turnAway(Channel channel, LoopContext context, String reason) {
        counters.refusedConnections.increment();
        context.close(channel, reason);
    }
}
