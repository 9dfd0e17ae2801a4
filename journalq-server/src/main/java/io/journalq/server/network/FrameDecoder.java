package io.journalq.server.network;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Cuts a connection's bytes into frames: four bytes of length, then so many bytes. A frame that arrived whole is passed
 * on as a slice of what was read; one that comes in parts is gathered in a buffer that grows with what arrives, never
 * with what the length claims. A length that is negative or above the limit ends the connection.
 *
 * <p>One per connection, on its loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int LENGTH_SIZE_BYTES = Integer.BYTES;
    private static final int FIRST_CAPACITY_BYTES = 64 * 1024;

    private final ConnectionHandler connection;
    private final int maxFrameSizeBytes;
    private ByteBuf unfinished;
    private boolean refused;

    FrameDecoder(ConnectionHandler connection, int maxFrameSizeBytes) {
        this.connection = connection;
        this.maxFrameSizeBytes = maxFrameSizeBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf arrived = (ByteBuf) message;
        try {
            if (unfinished != null) {
                finish(context, arrived);
            }
            while (!refused && unfinished == null && arrived.isReadable()) {
                cut(context, arrived);
            }
        } finally {
            arrived.release();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (unfinished != null) {
            unfinished.release();
            unfinished = null;
        }
    }

    /** Passes on the next frame of {@code arrived}, or keeps its beginning. */
    private void cut(ChannelHandlerContext context, ByteBuf arrived) {
        int available = arrived.readableBytes() - LENGTH_SIZE_BYTES;
        if (available >= 0) {
            int length = arrived.getInt(arrived.readerIndex());
            if (!isAcceptable(length)) {
                return;
            }
            if (available >= length) {
                arrived.skipBytes(LENGTH_SIZE_BYTES);
                context.fireChannelRead(arrived.readRetainedSlice(length));
                return;
            }
        }
        int capacity = Math.max(arrived.readableBytes(), FIRST_CAPACITY_BYTES);
        unfinished = context.alloc().buffer(Math.min(capacity, LENGTH_SIZE_BYTES + maxFrameSizeBytes));
        unfinished.writeBytes(arrived);
    }

    /** Completes the frame that an earlier read began, as far as {@code arrived} reaches. */
    private void finish(ChannelHandlerContext context, ByteBuf arrived) {
        if (unfinished.readableBytes() < LENGTH_SIZE_BYTES) {
            fill(arrived, LENGTH_SIZE_BYTES);
            if (unfinished.readableBytes() < LENGTH_SIZE_BYTES || !isAcceptable(unfinished.getInt(0))) {
                return;
            }
        }
        int size = LENGTH_SIZE_BYTES + unfinished.getInt(0);
        fill(arrived, size);
        if (unfinished.readableBytes() == size) {
            ByteBuf frame = unfinished;
            unfinished = null;
            context.fireChannelRead(frame.skipBytes(LENGTH_SIZE_BYTES));
        }
    }

    private void fill(ByteBuf arrived, int size) {
        int missing = size - unfinished.readableBytes();
        unfinished.writeBytes(arrived, Math.min(missing, arrived.readableBytes()));
    }

    private boolean isAcceptable(int length) {
        if (length < 0 || length > maxFrameSizeBytes) {
            refused = true;
            connection.refuse("a frame of " + length + " bytes; the limit is " + maxFrameSizeBytes
                    + " (socket.request.max.bytes)");
            return false;
        }
        return true;
    }
}
