package io.journalq.server.network;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Has a listener rest once it has accepted so many connections in a short time: the others wait in the system's queue. A
 * new connection costs more than a request, and a flood of them is not to take the loop from those that are served. One
 * for each listener, on its loop.
 */
final class AcceptRate extends ChannelInboundHandlerAdapter {
    /** What a listener may take at once is what its rate is in so long: others wait for no more than that. */
    private static final int INTERVALS_PER_SECOND = 1_000;

    private final int connections;
    private final long intervalNanos;
    private final NetworkCounters counters;
    private final LongSupplier nanoTime;
    private long begunNanos;
    private int accepted;

    AcceptRate(int connectionsPerSecond, NetworkCounters counters, LongSupplier nanoTime) {
        this.connections = Math.max(1, connectionsPerSecond / INTERVALS_PER_SECOND);
        this.intervalNanos = TimeUnit.SECONDS.toNanos(1) * connections / connectionsPerSecond;
        this.counters = counters;
        this.nanoTime = nanoTime;
        this.begunNanos = nanoTime.getAsLong();
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the loop runs it, or ends before
    public void channelRead(ChannelHandlerContext context, Object connection) {
        long nowNanos = nanoTime.getAsLong();
        if (nowNanos - begunNanos >= intervalNanos) {
            begunNanos = nowNanos;
            accepted = 0;
        }
        accepted++;
        ChannelConfig config = context.channel().config();
        if (accepted >= connections && config.isAutoRead()) {
            counters.acceptRests.increment();
            config.setAutoRead(false);
            long restNanos = intervalNanos - (nowNanos - begunNanos);
            context.executor()
                    .schedule(
                            () -> {
                                if (context.channel().isOpen()) {
                                    config.setAutoRead(true);
                                }
                            },
                            restNanos,
                            TimeUnit.NANOSECONDS);
        }
        context.fireChannelRead(connection);
    }
}
