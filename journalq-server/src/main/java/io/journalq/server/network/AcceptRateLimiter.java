package io.journalq.server.network;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Pauses a listener that has accepted too many connections in a short time. In the meantime, new connections wait in
 * the backlog of the operating system. Accepting a connection costs more than a request, so a flood of connections must
 * not take the loop's time from open connections. One for each listener, on its loop.
 */
final class AcceptRateLimiter extends ChannelInboundHandlerAdapter {
    /**
     * The burst of a listener is its rate in one interval of 1 ms, so open connections wait no longer than for that
     * burst.
     */
    private static final int INTERVALS_PER_SECOND = 1_000;

    private final int connections;
    private final long intervalNanos;
    private final NetworkCounters counters;
    private final LongSupplier nanoTime;
    private long begunNanos;
    private int accepted;

    AcceptRateLimiter(int connectionsPerSecond, NetworkCounters counters, LongSupplier nanoTime) {
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
            counters.acceptPauses.increment();
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
