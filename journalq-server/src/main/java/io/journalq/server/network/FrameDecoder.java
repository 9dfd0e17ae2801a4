package io.journalq.server.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Cuts a connection's bytes into frames: four bytes of length, then so many bytes. A frame that arrived whole is passed
 * on as a slice of what was read. One that comes in parts is gathered in a buffer of its own, into which the socket is
 * read directly ({@link FrameReads}), so that the bytes of a large frame are not copied. The buffer has room for the
 * whole frame while {@link FrameRoom} allows, else it grows with what arrives; a length that is negative or above the
 * limit ends the connection.
 *
 * <p>For a frame that comes in small parts the socket wakes its loop only when what is missing is there, so that a client
 * which sends a byte at a time costs no read for each. While its connection takes no frames, what arrived stays as it is:
 * a read may hold thousands of small frames, and the garbage collector would have to move each of them from one turn to
 * the next.
 *
 * <p>One per connection, on its loop.
 */
final class FrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int LENGTH_SIZE_BYTES = Integer.BYTES;
    private static final int FIRST_CAPACITY_BYTES = 64 * 1024;
    /** Behind a frame of this size only the beginning of the next is read at first, for it will be as large. */
    private static final int LARGE_FRAME_BYTES = 64 * 1024;

    private static final int BEGINNING_BYTES = 1024;
    /** A part below this size is small. */
    private static final int SMALL_PART_BYTES = 512;
    /** What a socket may gather of a frame before it wakes its loop: within what any socket has room for. */
    private static final int MOST_AWAITED_BYTES = 16 * 1024;

    private final Consumer<String> refuse;
    private final Consumer<String> cutShort;
    private final IntConsumer readPart;
    private final int maxFrameSizeBytes;
    private final FrameRoom room;
    private final ReadLowWater lowWater;
    private int lastFrameSizeBytes;
    /** A frame from its length on, of which something is missing. */
    private ByteBuf unfinished;
    /** The unfilled part of {@link #unfinished} that the socket was last told to read into. */
    private ByteBuf target;

    private int reservedBytes;
    private boolean refused;

    /** What arrived and is not cut yet, as the connection takes no frames. */
    private final ArrayDeque<ByteBuf> rest = new ArrayDeque<>(0);

    private boolean held;
    private ChannelHandlerContext context;

    /**
     * For one connection.
     *
     * @param refuse ends the connection, and says why
     * @param cutShort hears of a connection that has ended within a frame
     * @param readPart hears how many bytes of a frame came that is not whole yet
     */
    FrameDecoder(
            Consumer<String> refuse,
            Consumer<String> cutShort,
            IntConsumer readPart,
            int maxFrameSizeBytes,
            FrameRoom room,
            ReadLowWater lowWater) {
        this.refuse = refuse;
        this.cutShort = cutShort;
        this.readPart = readPart;
        this.maxFrameSizeBytes = maxFrameSizeBytes;
        this.room = room;
        this.lowWater = lowWater;
    }

    /** What the socket is to be read into next, the caller's to release; null for any buffer of usual size. */
    ByteBuf nextTarget(ByteBufAllocator allocator) {
        target = null;
        if (refused || held || !rest.isEmpty()) {
            return null;
        }
        if (unfinished != null) {
            int sizeBytes = Math.min(makeRoom(), Turns.SHARE_BYTES);
            target = unfinished
                    .retainedSlice(unfinished.writerIndex(), sizeBytes)
                    .clear();
            return target;
        }
        return lastFrameSizeBytes < LARGE_FRAME_BYTES ? null : allocator.ioBuffer(BEGINNING_BYTES, BEGINNING_BYTES);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // two buffers with the same content are two buffers
    public void channelRead(ChannelHandlerContext handlerContext, Object message) {
        ByteBuf arrived = (ByteBuf) message;
        int sizeBytes = arrived.readableBytes();
        if (arrived == target) {
            target = null;
            unfinished.writerIndex(unfinished.writerIndex() + sizeBytes);
            arrived.release();
            passOnIfWhole();
            if (unfinished != null) {
                readPart.accept(sizeBytes);
            }
        } else {
            target = null;
            rest.add(arrived);
            cutRest();
        }
        awaitWhatIsMissing(sizeBytes);
    }

    private void awaitWhatIsMissing(int arrivedBytes) {
        boolean slow = unfinished != null && rest.isEmpty() && !refused && arrivedBytes < SMALL_PART_BYTES;
        lowWater.set(context.channel(), slow ? Math.min(missingBytes(), MOST_AWAITED_BYTES) : 1);
    }

    /** Passes on no frames until {@link #goOn}. */
    void hold() {
        held = true;
    }

    /** Passes on what arrived meanwhile, unless {@link #hold} is called again. */
    void goOn() {
        held = false;
        cutRest();
    }

    /** Forgets what arrived meanwhile. */
    void releaseRest() {
        while (!rest.isEmpty()) {
            rest.poll().release();
        }
    }

    private void cutRest() {
        while (!held && !refused && !rest.isEmpty()) {
            ByteBuf arrived = rest.poll();
            try {
                while (!held && !refused && arrived.isReadable()) {
                    if (unfinished == null) {
                        cut(arrived);
                    } else {
                        fill(arrived);
                    }
                }
            } finally {
                if (arrived.isReadable() && held && !context.isRemoved()) {
                    rest.addFirst(arrived);
                } else {
                    arrived.release();
                }
            }
        }
        if (refused) {
            releaseRest();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext handlerContext) {
        if (unfinished != null && !refused) {
            cutShort.accept("it ended within a request, after " + unfinished.readableBytes() + " bytes of it");
        }
        handlerContext.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext handlerContext) {
        releaseRest();
        if (unfinished != null) {
            giveRoomBack();
            unfinished.release();
            unfinished = null;
        }
    }

    /** Passes on the next frame of {@code arrived}, or keeps its beginning. */
    private void cut(ByteBuf arrived) {
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
        begin(arrived);
    }

    private void begin(ByteBuf arrived) {
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
    private void fill(ByteBuf arrived) {
        unfinished.writeBytes(arrived, Math.min(makeRoom(), arrived.readableBytes()));
        passOnIfWhole();
    }

    private void passOnIfWhole() {
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
