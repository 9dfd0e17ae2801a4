package io.journalq.server.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Decodes requests, and stops in the middle of a read while its connection takes no more. Otherwise, a read of pipelined
 * requests would become thousands of objects. The rest of the bytes waits here. On the connection's loop.
 */
final class RequestDecoder extends HttpRequestDecoder {
    private static final int MAX_LINE_BYTES = 8 * 1024;
    private static final int MAX_HEADERS_BYTES = 8 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;

    private final BooleanSupplier stopped;
    private final IntConsumer onBytes;
    private ChannelHandlerContext context;
    private boolean hasRest;

    /**
     * Creates a decoder.
     *
     * @param stopped whether the connection takes no more objects now
     * @param onBytes is told the size of each read
     */
    RequestDecoder(BooleanSupplier stopped, IntConsumer onBytes) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADERS_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.stopped = stopped;
        this.onBytes = onBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
    }

    @Override
    public void channelRead(ChannelHandlerContext handlerContext, Object message) throws Exception {
        onBytes.accept(((ByteBuf) message).readableBytes());
        super.channelRead(handlerContext, message);
    }

    /** Netty asks this after each object. */
    @Override
    public boolean isSingleDecode() {
        hasRest = stopped.getAsBoolean();
        return hasRest;
    }

    /** Whether bytes may wait because the connection took no more. */
    boolean hasRest() {
        return hasRest;
    }

    /** Decodes the bytes that wait. Not within a read. */
    void goOn() {
        if (hasRest && !context.isRemoved()) {
            hasRest = false;
            try {
                super.channelRead(context, Unpooled.EMPTY_BUFFER);
                super.channelReadComplete(context);
            } catch (Exception failure) {
                context.fireExceptionCaught(failure);
            }
        }
    }
}
