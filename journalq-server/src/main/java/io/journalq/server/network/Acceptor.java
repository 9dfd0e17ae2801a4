package io.journalq.server.network;

import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The broker's listeners and the connections that they accepted, spread over the event loops in turn. Any thread.
 */
public final class Acceptor {
    private static final Logger log = LoggerFactory.getLogger(Acceptor.class);

    private static final int BACKLOG = 1_024;
    private static final int READS_AT_A_TIME = 16;
    private static final int SMALLEST_READ_BYTES = 4 * 1024;
    /** A request that waits for its answer holds the buffer that it came in, so that the first ones are small. */
    private static final int FIRST_READ_BYTES = 4 * 1024;

    private static final int MAX_SHORTAGE_LINES_A_SECOND = 1;
    private static final int LARGEST_READ_BYTES = 512 * 1024;
    private static final RecvByteBufAllocator USUAL_READS = new AdaptiveRecvByteBufAllocator(
                    SMALLEST_READ_BYTES, FIRST_READ_BYTES, LARGEST_READ_BYTES)
            .maxMessagesPerRead(READS_AT_A_TIME);
    private static final int WRITE_LOW_WATER_BYTES = 1024 * 1024;
    private static final int WRITE_HIGH_WATER_BYTES = 4 * 1024 * 1024;
    private static final long DRAIN_POLL_MS = 5;

    private final EventLoops loops;
    private final ConnectionLimits limits;
    private final NetworkCounters counters;
    private final AcceptFailures acceptFailures;
    private final ConnectionHandler.LoopContext[] contexts;
    private final ConnectionCounts counts = new ConnectionCounts();
    private final LogThrottle throttle = new LogThrottle(log);
    private final List<Channel> listeners = new ArrayList<>();
    private final Set<ConnectionHandler> connections = ConcurrentHashMap.newKeySet();

    /** @param memory what the connections of all loops share */
    public Acceptor(
            EventLoops loops,
            ConnectionLimits limits,
            SharedMemory memory,
            ExchangeFactory exchanges,
            NetworkCounters counters) {
        this.loops = loops;
        this.limits = limits;
        this.counters = counters;
        this.acceptFailures = new AcceptFailures(counters);
        this.contexts = new ConnectionHandler.LoopContext[loops.count()];
        LogThrottle shortages = new LogThrottle(log, MAX_SHORTAGE_LINES_A_SECOND);
        for (LoopCycle cycle : loops.cycles()) {
            InFlightBudget budget = new InFlightBudget(limits.maxLoopInFlightBytes());
            InFlightBudget gathering = new InFlightBudget(limits.maxLoopInFlightBytes());
            contexts[cycle.index()] = new ConnectionHandler.LoopContext(
                    cycle,
                    limits,
                    budget,
                    gathering,
                    memory,
                    new Turns(cycle),
                    new IdleConnections(cycle, limits.admission().maxIdleMs(), counters, gathering, memory),
                    exchanges,
                    counters,
                    throttle,
                    shortages);
        }
    }

    /**
     * Binds a listener. Connections are held back until {@link #accept}.
     *
     * @param host host name or address; empty for every interface
     * @param port 0 for any free one
     * @return the port that it bound
     * @throws IOException with one line for people when the address cannot be bound
     */
    public int bind(String listenerName, String host, int port) throws IOException {
        InetSocketAddress address = host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
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
                                        new AcceptRate(
                                                limits.admission().maxConnectionsPerSecond(),
                                                counters,
                                                System::nanoTime));
                    }
                })
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, AnswerSizes.INSTANCE)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(WRITE_LOW_WATER_BYTES, WRITE_HIGH_WATER_BYTES))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        initialize(channel, listenerName);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            String reason = bound.cause().getMessage();
            throw new IOException(
                    "cannot listen on " + (host.isEmpty() ? "*" : host) + ":" + port + ": " + reason
                            + "; stop the program that uses this address, or set another in 'listeners'",
                    bound.cause());
        }
        synchronized (listeners) {
            listeners.add(bound.channel());
        }
        return ((InetSocketAddress) bound.channel().localAddress()).getPort();
    }

    /** Begins to accept on every listener. */
    public void accept() {
        synchronized (listeners) {
            listeners.forEach(listener -> listener.config().setAutoRead(true));
        }
    }

    /**
     * Stops to accept and to read, lets what was read be answered, then closes every connection. Blocks.
     *
     * @param timeoutMs how long answers may take before their connections are closed without them
     */
    public void close(long timeoutMs) {
        synchronized (listeners) {
            listeners.forEach(listener -> listener.close().awaitUninterruptibly());
            listeners.clear();
        }
        connections.forEach(ConnectionHandler::drain);
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try {
            while (!connections.isEmpty() && System.nanoTime() < deadlineNanos) {
                Thread.sleep(DRAIN_POLL_MS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!connections.isEmpty()) {
            log.info("closing {} connections with unanswered requests", connections.size());
        }
        connections.forEach(connection -> connection.channel().close().awaitUninterruptibly(timeoutMs));
    }

    private void initialize(Channel channel, String listenerName) {
        ConnectionHandler.LoopContext context =
                contexts[loops.cycleOf(channel.eventLoop()).index()];
        ConnectionHandler connection = new ConnectionHandler(context, channel, listenerName);
        counters.acceptedConnections.increment();
        int open = counters.openConnections.incrementAndGet();
        // Kept, as a closed channel does not know it any more.
        SocketAddress client = channel.remoteAddress();
        int openHere = counts.add(client);
        connections.add(connection);
        channel.closeFuture().addListener(closed -> {
            counters.openConnections.decrementAndGet();
            counts.remove(client);
            connections.remove(connection);
        });
        AdmissionLimits admission = limits.admission();
        if (open > admission.maxConnections()) {
            counters.connectionsOverTotal.increment();
            turnAway(
                    connection,
                    "more than " + admission.maxConnections()
                            + " connections (max.connections, and files that may be open)");
            return;
        }
        if (openHere > admission.maxConnectionsPerAddress()) {
            counters.connectionsOverAddress.increment();
            turnAway(
                    connection,
                    "more than " + admission.maxConnectionsPerAddress()
                            + " connections of one address (max.connections.per.ip)");
            return;
        }
        FrameDecoder decoder = new FrameDecoder(
                connection::refuseFrame,
                connection::cutShort,
                connection::onPart,
                connection::onFrameWaits,
                connection::onShortage,
                limits.maxFrameSizeBytes(),
                new FrameRoom(
                        context.gathering(),
                        context.memory().largeRequests(),
                        context.cycle()::enqueue,
                        connection::flushLater),
                new ReadLowWater(counters));
        connection.readThrough(decoder);
        channel.config().setRecvByteBufAllocator(new FrameReads(decoder, USUAL_READS));
        channel.pipeline().addLast(decoder, connection);
    }

    /** What the connections of each loop share, by the number of the loop. */
    List<ConnectionHandler.LoopContext> contexts() {
        return List.of(contexts);
    }

    private void turnAway(ConnectionHandler connection, String reason) {
        counters.refusedConnections.increment();
        connection.close(reason);
    }
}
