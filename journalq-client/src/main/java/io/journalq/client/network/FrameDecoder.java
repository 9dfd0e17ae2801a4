package io.journalq.client.network;

import io.journalq.client.error.ConnectionFailedException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Cuts the bytes of a connection into frames: a four-byte length, then that many bytes. A frame that came in one read is
 * passed on as a slice of it, any other is gathered in one buffer, which grows with what arrives and never with what the
 * length claims. On the event loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int FIRST_BUFFER_BYTES = 64 * 1024;

    private final int maxFrameSizeBytes;
    private int lengthBytesRead;
    private int frameSizeBytes;
    private ByteBuf partial;

    FrameDecoder(int maxFrameSizeBytes) {
        this.maxFrameSizeBytes = maxFrameSizeBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            while (in.isReadable() && context.channel().isActive()) {
                if (partial != null) {
                    gather(context, in);
                } else if (readLength(in)) {
                    begin(context, in);
                }
            }
        } finally {
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
        int firstBytes = Math.max(FIRST_BUFFER_BYTES, 2 * in.readableBytes());
        partial = context.alloc().directBuffer(Math.min(frameSizeBytes, firstBytes), frameSizeBytes);
        partial.writeBytes(in);
    }

    private void gather(ChannelHandlerContext context, ByteBuf in) {
        int missing = frameSizeBytes - partial.readableBytes();
        partial.writeBytes(in, Math.min(missing, in.readableBytes()));
        if (partial.readableBytes() == frameSizeBytes) {
            ByteBuf frame = partial;
            partial = null;
            context.fireChannelRead(frame);
        }
    }
}
