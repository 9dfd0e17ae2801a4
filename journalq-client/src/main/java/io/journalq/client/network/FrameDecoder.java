package io.journalq.client.network;

import io.journalq.client.error.ConnectionFailedException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Cuts the bytes of a connection into frames: a four-byte length, then that many bytes. A frame that came in one read is
 * passed on as a slice of it, any other is gathered in one buffer, into which the socket is read directly ({@link
 * FrameReads}). The buffer grows with what arrives and never with what the length claims. On the event loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int FIRST_BUFFER_BYTES = 256 * 1024;
    /** Each time it is full: what is there is copied then. */
    private static final int GROWTH = 4;

    private final int maxFrameSizeBytes;
    private int lengthBytesRead;
    private int frameSizeBytes;
    private ByteBuf partial;
    /** The unfilled part of {@link #partial} that the socket was last told to read into. */
    private ByteBuf target;

    FrameDecoder(int maxFrameSizeBytes) {
        this.maxFrameSizeBytes = maxFrameSizeBytes;
    }

    /** What the socket is to be read into next, the caller's to release; null for any buffer of usual size. */
    ByteBuf nextTarget() {
        if (partial == null) {
            target = null;
        } else {
            makeRoom();
            target = partial.retainedSlice(partial.writerIndex(), partial.writableBytes())
                    .clear();
        }
        return target;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // two buffers with the same content are two buffers
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
                    + " bytes; check that the address is a broker's listener, without TLS");
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

    /** The buffer is not whole, and has room after this: never more than the frame has left. */
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
