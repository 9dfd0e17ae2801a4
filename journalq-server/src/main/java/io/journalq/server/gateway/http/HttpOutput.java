package io.journalq.server.gateway.http;

import io.journalq.server.network.LoopContext;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;

/**
 * What a connection sends. Everything that is written in an iteration of the loop is flushed at its end. On the
 * connection's loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails ends in channelInactive
final class HttpOutput {
    /** Larger parts count against the memory for responses until they are sent. */
    private static final int LARGE_PART_BYTES = 64 * 1024;

    private final LoopContext loop;
    private final Channel channel;
    private final Runnable onFlushed;
    private final Runnable flush = this::flush;
    private ChannelHandlerContext context;
    private final ArrayDeque<Runnable> onWritable = new ArrayDeque<>(1);
    private boolean flushRegistered;
    private boolean closed;

    /** @param onFlushed is called after each flush */
    HttpOutput(LoopContext loop, Channel channel, Runnable onFlushed) {
        this.loop = loop;
        this.channel = channel;
        this.onFlushed = onFlushed;
    }

    /** The connection was added to its pipeline. */
    void begin(ChannelHandlerContext handlerContext) {
        context = handlerContext;
    }

    /** Writes a message. Takes ownership of it. */
    void write(Object message) {
        if (closed) {
            ReferenceCountUtil.release(message);
            return;
        }
        context.write(message, context.voidPromise());
        flushLater();
    }

    /** Writes a part of a response whose size is not known. Takes ownership of it. */
    void stream(ByteBuf part) {
        write(new DefaultHttpContent(part), part.readableBytes());
    }

    /** Writes bytes to a connection that does not speak HTTP any more. Takes ownership of them. */
    void bytes(ByteBuf bytes) {
        write(bytes, bytes.readableBytes());
    }

    private void write(Object message, int sizeBytes) {
        if (closed || sizeBytes < LARGE_PART_BYTES) {
            write(message);
            return;
        }
        loop.memory().takeForResponse(sizeBytes);
        context.write(message).addListener(sent -> loop.memory().giveBackFromResponse(sizeBytes));
        flushLater();
    }

    private void flushLater() {
        if (!flushRegistered) {
            flushRegistered = true;
            loop.cycle().onFlush(flush);
        }
    }

    private void flush() {
        flushRegistered = false;
        if (!closed) {
            context.flush();
            onFlushed.run();
        }
    }

    /** Runs {@code work} once, when the client has read most of what was sent. */
    void whenWritable(Runnable work) {
        if (channel.isWritable()) {
            loop.cycle().enqueue(work);
        } else {
            onWritable.add(work);
        }
    }

    /** The client has read most of what was sent. */
    void onWritable() {
        while (!onWritable.isEmpty()) {
            loop.cycle().enqueue(onWritable.remove());
        }
    }

    /** The response has ended. */
    void forgetWork() {
        onWritable.clear();
    }

    /** Changes while the client reads. */
    long pendingBytes() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return outbound == null ? 0 : outbound.totalPendingWriteBytes() - outbound.currentProgress();
    }

    /** The connection has ended. */
    void close() {
        closed = true;
    }
}
