package io.journalq.server.network;

import io.journalq.common.protocol.MessageWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCounted;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The responses of one connection, in the order of its requests, regardless of the order in which they become ready.
 * Responses that become ready in the same iteration of the loop share one buffer, so that a thousand small ones are one
 * write.
 *
 * <p>On the connection's loop.
 */
final class ResponseQueue {
    /** Responses above this size are passed to the channel at once, where they count against its high-water mark. */
    private static final int OUTPUT_HIGH_WATER_BYTES = 64 * 1024;

    private final ArrayDeque<Exchange> exchanges = new ArrayDeque<>();
    private MessageWriter output;
    /**
     * Memory of the responses passed on since {@link #takePassedOnBytes}. Records that are sent from their file use
     * none.
     */
    private long passedOnBytes;

    void add(Exchange exchange) {
        exchanges.add(exchange);
    }

    int size() {
        return exchanges.size();
    }

    /** The oldest exchange; null if there is none. */
    Exchange head() {
        return exchanges.peek();
    }

    /** All exchanges whose responses are not sent, oldest first. */
    List<Exchange> all() {
        return List.copyOf(exchanges);
    }

    long passedOnBytes() {
        return passedOnBytes;
    }

    /** Size in memory of the responses that were passed on since the last call. */
    long takePassedOnBytes() {
        long bytes = passedOnBytes;
        passedOnBytes = 0;
        return bytes;
    }

    /** Removes the oldest exchange if it is done; else null. */
    Exchange pollDone() {
        Exchange head = exchanges.peek();
        return head != null && head.isDone() ? exchanges.poll() : null;
    }

    /** Removes any exchange that is done, regardless of its place; null if there is none. For a closed connection. */
    Exchange pollDoneInAnyOrder() {
        for (Exchange exchange : exchanges) {
            if (exchange.isDone()) {
                exchanges.remove(exchange);
                return exchange;
            }
        }
        return null;
    }

    /** Writes the response of an exchange after those that are ready. Returns its size in bytes. */
    int write(Exchange exchange, ChannelHandlerContext context, NetworkCounters counters) {
        if (output == null) {
            output = MessageWriter.inStretches(context.alloc());
        }
        int beforeBytes = output.sizeBytes();
        output.beginFrame();
        exchange.writeResponse(output);
        output.endFrame();
        int sizeBytes = output.sizeBytes() - beforeBytes;
        if (output.sizeBytes() >= OUTPUT_HIGH_WATER_BYTES) {
            passOn(context, counters);
        }
        return sizeBytes;
    }

    /** Passes the ready responses to the channel, without flushing it. */
    @SuppressWarnings("FutureReturnValueIgnored") // the void promise: a failed write closes the channel
    void passOn(ChannelHandlerContext context, NetworkCounters counters) {
        if (output == null) {
            return;
        }
        counters.sentBytes.add(output.sizeBytes());
        List<ReferenceCounted> parts = output.finish();
        output = null;
        for (int i = 0; i < parts.size(); i++) {
            ReferenceCounted part = parts.get(i);
            if (part instanceof ByteBuf bytes) {
                passedOnBytes += bytes.readableBytes();
            }
            context.write(part, context.voidPromise());
        }
    }

    /** Drops the responses that are ready but not passed on. */
    void release() {
        if (output != null) {
            output.release();
            output = null;
        }
    }

    /** Releases a response that can no longer be sent, with everything that it holds. */
    static void discard(Exchange exchange, ByteBufAllocator allocator) {
        MessageWriter dropped = MessageWriter.inStretches(allocator);
        try {
            exchange.writeResponse(dropped);
        } finally {
            dropped.release();
        }
    }
}
