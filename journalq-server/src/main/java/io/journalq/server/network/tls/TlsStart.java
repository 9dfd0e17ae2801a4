package io.journalq.server.network.tls;

import io.journalq.server.network.TlsFailure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Waits for the first byte of a client, and then gives its place to the handler of TLS. So clients that send nothing, or
 * something that is not TLS, cost neither an engine nor an exception with all that they have sent. The first handler of
 * a connection, on its loop.
 */
final class TlsStart extends ChannelInboundHandlerAdapter {
    /** Content type of the record with which each client begins (RFC 8446, 5.1). */
    private static final byte HANDSHAKE_RECORD = 22;

    private final Supplier<SslHandler> handler;
    private final TlsWatch watch;
    private final long timeoutMs;
    private ScheduledFuture<?> timeout;
    private long addedNanos;

    /** @param timeoutMs time from here to the end of the handshake */
    TlsStart(Supplier<SslHandler> handler, TlsWatch watch, long timeoutMs) {
        this.handler = handler;
        this.watch = watch;
        this.timeoutMs = timeoutMs;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        addedNanos = System.nanoTime();
        timeout = context.executor()
                .schedule(() -> watch.fail(context, TlsFailure.TIMEOUT), timeoutMs, TimeUnit.MILLISECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        timeout.cancel(false);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        watch.fail(context, TlsFailure.DISCONNECTED);
        context.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (!bytes.isReadable() || bytes.getByte(bytes.readerIndex()) != HANDSHAKE_RECORD) {
            bytes.release();
            watch.fail(context, TlsFailure.NOT_TLS);
            return;
        }
        SslHandler tls;
        try {
            tls = handler.get();
        } catch (RuntimeException | OutOfMemoryError failure) {
            bytes.release();
            throw failure;
        }
        long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - addedNanos);
        tls.setHandshakeTimeoutMillis(Math.max(1, timeoutMs - waitedMs));
        watch.onStart(tls);
        context.pipeline().replace(this, null, tls);
        context.pipeline().fireChannelRead(bytes);
    }
}
