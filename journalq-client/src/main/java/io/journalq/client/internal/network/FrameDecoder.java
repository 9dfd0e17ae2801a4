package io.journalq.client.internal.network;

import io.journalq.client.error.ConnectionFailedException;
import io.journalq.common.protocol.frame.FrameReads;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;

/**
 * Splits the bytes of a connection into frames: a length of four bytes, then that number of bytes. A frame that arrives
 * in one read is passed on as a slice. Any other frame is collected in a buffer into which the socket is read directly
 * ({@link FrameReads}). The buffer grows with the received bytes, never with the announced length. On the event loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int FIRST_BUFFER_BYTES = 256 * 1024;
    /** The factor by which a full buffer grows. Growing copies its content. */
    private static final int GROWTH = 4;

    private final int maxFrameSizeBytes;
    private int lengthBytesRead;
    private int frameSizeBytes;
    private ByteBuf partial;
    /** The unused part of {@link #partial} into which the socket is currently read. */
    private ByteBuf target;

    FrameDecoder(int maxFrameSizeBytes) {
        this.maxFrameSizeBytes = maxFrameSizeBytes;
    }

    /** Returns the buffer for the next read of the socket. The caller releases it. */
    ByteBuf allocate(ByteBufAllocator allocator, RecvByteBufAllocator.ExtendedHandle usual) {
        if (partial == null) {
            target = null;
            return usual.allocate(allocator);
        }
        makeRoom();
        target = partial.retainedSlice(partial.writerIndex(), partial.writableBytes())
                .clear();
        return target;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // buffers with equal content are still different buffers
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            if (in == target) {
                partial.writerIndex(partial.writerIndex() + in.readableBytes());
                in.skipBytes(in.readableBytes());
                passOnIfWhole(context);
            }
            while (in.isReadable() && context.channel().isActive()) {
                if (partial != null) {
                    gather(context, in);
                } else if (readLength(in)) {
                    begin(context, in);
                }
            }
        } finally {
            target = null;
            in.release();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (partial != null) {
            partial.release();
            partial = null;
        }
    }

    private boolean readLength(ByteBuf in) {
        if (lengthBytesRead == 0 && in.readableBytes() >= Integer.BYTES) {
            frameSizeBytes = in.readInt();
        } else {
            while (lengthBytesRead < Integer.BYTES) {
                if (!in.isReadable()) {
                    return false;
                }
                frameSizeBytes = frameSizeBytes << Byte.SIZE | in.readUnsignedByte();
                lengthBytesRead++;
            }
        }
        lengthBytesRead = 0;
        if (frameSizeBytes < Integer.BYTES || frameSizeBytes > maxFrameSizeBytes) {
            throw new ConnectionFailedException("a frame of " + frameSizeBytes
                    + " bytes; check that the address is a listener of a broker, and whether it requires TLS");
        }
        return true;
    }

    private void begin(ChannelHandlerContext context, ByteBuf in) {
        if (in.readableBytes() >= frameSizeBytes) {
            context.fireChannelRead(in.readRetainedSlice(frameSizeBytes));
            return;
        }
        int firstBytes = Math.max(FIRST_BUFFER_BYTES, GROWTH * in.readableBytes());
        partial = context.alloc().directBuffer(Math.min(frameSizeBytes, firstBytes), frameSizeBytes);
        partial.writeBytes(in);
    }

    private void gather(ChannelHandlerContext context, ByteBuf in) {
        makeRoom();
        partial.writeBytes(in, Math.min(partial.writableBytes(), in.readableBytes()));
        passOnIfWhole(context);
    }

    /** Makes sure that {@link #partial} has room, but not for more than the rest of the frame. */
    private void makeRoom() {
        if (!partial.isWritable()) {
            partial.capacity((int) Math.min(frameSizeBytes, (long) GROWTH * partial.capacity()));
        }
    }

    private void passOnIfWhole(ChannelHandlerContext context) {
        if (partial.readableBytes() == frameSizeBytes) {
            ByteBuf frame = partial;
            partial = null;
            context.fireChannelRead(frame);
        }
    }
}
