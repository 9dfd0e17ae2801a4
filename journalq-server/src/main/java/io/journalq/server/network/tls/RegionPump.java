package io.journalq.server.network.tls;

import io.journalq.server.network.FairScheduler;
import io.journalq.server.network.LoopContext;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayDeque;

/**
 * Turns file regions into buffers of at most {@value #CHUNK_BYTES} bytes, because the bytes have to be encrypted. It
 * reads a chunk only when fewer than {@value #MAX_AHEAD_BYTES} bytes of the chunks before it wait for the socket. A
 * client that reads nothing therefore holds that much memory, and no more, of a response of any size. What is written
 * behind a region waits in order, and the channel is not writable meanwhile, so that no further response is encoded.
 *
 * <p>Each connection sends {@link FairScheduler#SHARE_BYTES} in a turn. One for each connection, on its loop.
 */
final class RegionPump extends ChannelOutboundHandlerAdapter implements FairScheduler.Participant {
    static final int CHUNK_BYTES = 128 * 1024;
    static final int MAX_AHEAD_BYTES = 2 * CHUNK_BYTES;

    /** Size of a chunk while the memory for responses is used up. */
    private static final int SHORT_CHUNK_BYTES = 16 * 1024;

    /** The bit of the channel's writability that this handler sets. */
    private static final int WRITABILITY_INDEX = 1;

    private final LoopContext loop;

    /** A region that is not read completely, and everything that was written behind it. */
    private final ArrayDeque<Part> queue = new ArrayDeque<>(0);

    private ChannelHandlerContext context;
    private long queuedBytes;

    /** Bytes of chunks that are not written to the socket. */
    private int aheadBytes;

    private int turnBytes;
    private boolean waitsForTurn;
    private boolean pumping;
    private boolean removed;

    private record Part(Object message, ChannelPromise promise) {
        long sizeBytes() {
            if (message instanceof FileRegion region) {
                return region.count() - region.transferred();
            }
            return message instanceof ByteBuf buffer ? buffer.readableBytes() : 0;
        }
    }

    RegionPump(LoopContext loop) {
        this.loop = loop;
    }

    /** Bytes that wait here. */
    long queuedBytes() {
        return queuedBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the promise is that of the caller
    public void write(ChannelHandlerContext handlerContext, Object message, ChannelPromise promise) {
        if (queue.isEmpty() && !(message instanceof FileRegion)) {
            handlerContext.write(message, promise);
            return;
        }
        Part part = new Part(message, promise);
        queue.add(part);
        queuedBytes += part.sizeBytes();
        setWritable(false);
    }

    @Override
    public void flush(ChannelHandlerContext handlerContext) {
        handlerContext.flush();
        pump();
    }

    @Override
    public long beginTurn() {
        long lastBytes = turnBytes;
        turnBytes = 0;
        waitsForTurn = false;
        pump();
        return lastBytes;
    }

    private void pump() {
        if (pumping || removed) {
            return; // A chunk was sent while the loop below runs, which continues.
        }
        pumping = true;
        try {
            while (pass()) {
                context.flush();
            }
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            // Also those of a turn or of a chunk that was sent, whose callers serve other connections. The client has
            // received a part of the response, so the connection ends.
            releaseQueue(failure);
            context.fireExceptionCaught(failure);
        } finally {
            pumping = false;
        }
        if (queue.isEmpty()) {
            setWritable(true);
        }
    }

    /** Passes on as much as the limits allow. Returns whether that is anything. */
    @SuppressWarnings("FutureReturnValueIgnored") // the promise is that of the caller
    private boolean pass() throws IOException {
        boolean passed = false;
        while (!queue.isEmpty() && !waitsForTurn && !removed) {
            Part head = queue.peek();
            if (head.message() instanceof FileRegion region) {
                if (aheadBytes >= MAX_AHEAD_BYTES
                        || (aheadBytes > 0 && loop.memory().isFullOfResponses())) {
                    return passed; // onSent continues
                }
                if (turnBytes >= FairScheduler.SHARE_BYTES) {
                    waitsForTurn = true;
                    loop.turns().await(this);
                    return passed;
                }
                passChunk(region);
                if (region.transferred() == region.count()) {
                    queue.remove();
                    region.release();
                    succeed(head.promise());
                }
            } else {
                queue.remove();
                queuedBytes -= head.sizeBytes();
                context.write(head.message(), head.promise());
            }
            passed = true;
        }
        return passed;
    }

    private void passChunk(FileRegion region) throws IOException {
        int limitBytes = loop.memory().isFullOfResponses() ? SHORT_CHUNK_BYTES : CHUNK_BYTES;
        int sizeBytes = (int) Math.min(limitBytes, region.count() - region.transferred());
        ByteBuf chunk = context.alloc().directBuffer(sizeBytes, sizeBytes);
        try {
            WritableByteChannel target = new ChunkChannel(chunk);
            while (chunk.isWritable()) {
                if (region.transferTo(target, region.transferred()) <= 0) {
                    throw new EOFException("a file of records is shorter than expected");
                }
            }
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            // The system's own buffers also take direct memory.
            chunk.release();
            throw failure;
        }
        queuedBytes -= sizeBytes;
        turnBytes += sizeBytes;
        aheadBytes += sizeBytes;
        loop.memory().takeForResponse(sizeBytes);
        context.write(chunk).addListener(sent -> {
            aheadBytes -= sizeBytes;
            loop.memory().giveBackFromResponse(sizeBytes);
            pump();
        });
    }

    /** The last bytes of a region are encrypted in order, so what follows it is sent behind them. */
    private static void succeed(ChannelPromise promise) {
        if (!promise.isVoid()) {
            promise.trySuccess();
        }
    }

    private void setWritable(boolean writable) {
        ChannelOutboundBuffer outbound = context.channel().unsafe().outboundBuffer();
        if (outbound != null) {
            outbound.setUserDefinedWritability(WRITABILITY_INDEX, writable);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext handlerContext) {
        removed = true;
        loop.turns().forget(this);
        if (!queue.isEmpty()) {
            releaseQueue(new ClosedChannelException());
        }
    }

    private void releaseQueue(Throwable cause) {
        queuedBytes = 0;
        for (Part part = queue.poll(); part != null; part = queue.poll()) {
            ReferenceCountUtil.release(part.message());
            if (!part.promise().isVoid()) {
                part.promise().tryFailure(cause);
            }
        }
    }

    /** Writes into a buffer until it is full. */
    private record ChunkChannel(ByteBuf chunk) implements WritableByteChannel {
        @Override
        public int write(ByteBuffer source) {
            int count = Math.min(source.remaining(), chunk.writableBytes());
            ByteBuffer part = source.slice(source.position(), count);
            chunk.writeBytes(part);
            source.position(source.position() + count);
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // The buffer belongs to the pump.
        }
    }
}
