package io.journalq.server.network;

import io.journalq.server.loop.LogThrottle;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses a listener when the system refuses it a connection, for example because the process has too many open files.
 * In the meantime, new connections wait in the backlog of the operating system, and open connections are served. Any
 * loop.
 */
@Sharable
final class AcceptBackoff extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(AcceptBackoff.class);

    private static final long REST_MS = 1_000;

    private final NetworkCounters counters;
    private final LogThrottle throttle = new LogThrottle(log);

    AcceptBackoff(NetworkCounters counters) {
        this.counters = counters;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the loop runs it, or ends before
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        counters.acceptFailures.increment();
        throttle.warn(
                "cannot accept connections, trying again",
                context.channel().localAddress(),
                String.valueOf(cause.getMessage()));
        ChannelConfig config = context.channel().config();
        if (config.isAutoRead()) {
            config.setAutoRead(false);
            context.executor().schedule(() -> config.setAutoRead(true), REST_MS, TimeUnit.MILLISECONDS);
        }
    }
}
