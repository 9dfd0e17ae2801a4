package io.journalq.server.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.Consumer;

/**
 * Cuts a connection's bytes into frames: four bytes of length, then so many bytes. A frame that arrived whole is passed
 * on as a slice of what was read. One that comes in parts is gathered in a buffer of its own, into which the socket is
 * read directly ({@link FrameReads}), so that the bytes of a large frame are not copied. The buffer has room for the
 * whole frame while {@link FrameRoom} allows, else it grows with what arrives; a length that is negative or above the
 * limit ends the connection.
 *
 * <p>One per connection, on its loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int LENGTH_SIZE_BYTES = Integer.BYTES;
    private static final int FIRST_CAPACITY_BYTES = 64 * 1024;
    /** Behind a frame of this size only the beginning of the next is read at first, for it will be as large. */
    private static final int LARGE_FRAME_BYTES = 64 * 1024;

    private static final int BEGINNING_BYTES = 1024;

    private final Consumer<String> refuse;
    private final Consumer<String> cutShort;
    private final int maxFrameSizeBytes;
    private final FrameRoom room;
    private int lastFrameSizeBytes;
    /** A frame from its length on, of which something is missing. */
    private ByteBuf unfinished;
    /** The unfilled part of {@link #unfinished} that the socket was last told to read into. */
    private ByteBuf target;

    private int reservedBytes;
    private boolean refused;

    /**
     * For one connection.
     *
     * @param refuse ends the connection, and says why
     * @param cutShort hears of a connection that has ended within a frame
     */
    FrameDecoder(Consumer<String> refuse, Consumer<String> cutShort, int maxFrameSizeBytes, FrameRoom room) {
        this.refuse = refuse;
        this.cutShort = cutShort;
        this.maxFrameSizeBytes = maxFrameSizeBytes;
        this.room = room;
    }

    /** What the socket is to be read into next, the caller's to release; null for any buffer of usual size. */
    ByteBuf nextTarget(ByteBufAllocator allocator) {
        target = null;
        if (refused) {
            return null;
        }
        if (unfinished != null) {
            int sizeBytes = makeRoom();
            target = unfinished
                    .retainedSlice(unfinished.writerIndex(), sizeBytes)
                    .clear();
            return target;
        }
        return lastFrameSizeBytes < LARGE_FRAME_BYTES ? null : allocator.ioBuffer(BEGINNING_BYTES, BEGINNING_BYTES);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // two buffers with the same content are two buffers
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf arrived = (ByteBuf) message;
        try {
            if (arrived == target) {
                unfinished.writerIndex(unfinished.writerIndex() + arrived.readableBytes());
                arrived.skipBytes(arrived.readableBytes());
                passOnIfWhole(context);
            }
            while (!refused && arrived.isReadable()) {
                if (unfinished == null) {
                    cut(context, arrived);
                } else {
                    fill(context, arrived);
                }
            }
        } finally {
            target = null;
            arrived.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (unfinished != null && !refused) {
            cutShort.accept("it ended within a request, after " + unfinished.readableBytes() + " bytes of it");
        }
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (unfinished != null) {
            giveRoomBack();
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
                lastFrameSizeBytes = length;
                context.fireChannelRead(arrived.readRetainedSlice(length));
                return;
            }
        }
        begin(context, arrived);
    }

    private void begin(ChannelHandlerContext context, ByteBuf arrived) {
        int capacity = Math.max(arrived.readableBytes(), FIRST_CAPACITY_BYTES);
        if (arrived.readableBytes() >= LENGTH_SIZE_BYTES) {
            int sizeBytes = LENGTH_SIZE_BYTES + arrived.getInt(arrived.readerIndex());
            boolean wholly = reserve(sizeBytes - arrived.readableBytes());
            capacity = wholly ? sizeBytes : Math.min(capacity, sizeBytes);
        }
        unfinished = context.alloc().directBuffer(capacity);
        unfinished.writeBytes(arrived);
    }

    /** Puts bytes that came in a buffer of their own behind the unfinished frame's. */
    private void fill(ChannelHandlerContext context, ByteBuf arrived) {
        unfinished.writeBytes(arrived, Math.min(makeRoom(), arrived.readableBytes()));
        passOnIfWhole(context);
    }

    private void passOnIfWhole(ChannelHandlerContext context) {
        if (unfinished.readableBytes() == LENGTH_SIZE_BYTES && !isAcceptable(unfinished.getInt(0))) {
            return;
        }
        if (missingBytes() == 0) {
            ByteBuf frame = unfinished;
            unfinished = null;
            giveRoomBack();
            lastFrameSizeBytes = frame.readableBytes();
            context.fireChannelRead(frame.skipBytes(LENGTH_SIZE_BYTES));
        }
    }

    /** Of the length while that is not there, then of the frame. */
    private int missingBytes() {
        int have = unfinished.readableBytes();
        return (have < LENGTH_SIZE_BYTES ? LENGTH_SIZE_BYTES : LENGTH_SIZE_BYTES + unfinished.getInt(0)) - have;
    }

    /** Of what is missing as much as there is room for; grows to hold it all, or else twice what arrived. */
    private int makeRoom() {
        int missing = missingBytes();
        if (!unfinished.isWritable()) {
            int have = unfinished.readableBytes();
            unfinished.capacity(have + (reserve(missing) ? missing : Math.min(missing, have)));
        }
        return Math.min(missing, unfinished.writableBytes());
    }

    private boolean reserve(int sizeBytes) {
        if (reservedBytes > 0 || !room.reserve(sizeBytes)) {
            return false;
        }
        reservedBytes = sizeBytes;
        return true;
    }

    private void giveRoomBack() {
        room.giveBack(reservedBytes);
        reservedBytes = 0;
    }

    private boolean isAcceptable(int length) {
        if (length < 0 || length > maxFrameSizeBytes) {
            refused = true;
            refuse.accept("a frame of " + length + " bytes; the limit is " + maxFrameSizeBytes
                    + " (socket.request.max.bytes)");
            return false;
        }
        return true;
    }
}
