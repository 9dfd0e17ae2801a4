package io.journalq.server.network;

import io.journalq.common.protocol.frame.FrameReads;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Cuts a connection's bytes into frames: four bytes of length, then so many bytes. A frame that arrived whole is passed
 * on as a slice of what was read. One that comes in parts is gathered in a buffer of its own, into which the socket is
 * read directly ({@link FrameReads}), so that the bytes of a large frame are not copied. Memory for the whole frame is
 * reserved first ({@link FrameRoom}); while there is none the connection is left unread. A length that is negative or above
 * a limit ends the connection.
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
    /** What is read at a time while memory is short. */
    private static final int SHORT_READ_BYTES = 4 * 1024;
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
    private final Runnable onWait;
    private final Consumer<OutOfMemoryError> onShortage;
    private final int maxFrameSizeBytes;
    private final FrameRoom room;
    private final ReadLowWater lowWater;
    private int lastFrameSizeBytes;
    /** An incomplete frame, from its length on. */
    private ByteBuf unfinished;
    /** The unfilled part of {@link #unfinished} that the socket was last told to read into. */
    private ByteBuf target;

    /** Of the frame that was passed on last, in {@link FrameRoom#passOn}'s sense. */
    private long heldBytes;

    /** Bytes that came, modulo what an int holds. */
    private int arrivedBytes;

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
     * @param onWait hears that a frame waits for memory; {@link #goOn} tries again
     * @param onShortage hears that there is no memory although it was reserved; {@link #goOn} tries again
     */
    FrameDecoder(
            Consumer<String> refuse,
            Consumer<String> cutShort,
            IntConsumer readPart,
            Runnable onWait,
            Consumer<OutOfMemoryError> onShortage,
            int maxFrameSizeBytes,
            FrameRoom room,
            ReadLowWater lowWater) {
        this.refuse = refuse;
        this.cutShort = cutShort;
        this.readPart = readPart;
        this.onWait = onWait;
        this.onShortage = onShortage;
        this.maxFrameSizeBytes = maxFrameSizeBytes;
        this.room = room;
        this.lowWater = lowWater;
    }

    /** Returns the buffer for the next read of the socket. The caller releases it. */
    ByteBuf allocate(ByteBufAllocator allocator, RecvByteBufAllocator.ExtendedHandle usual) {
        try {
            ByteBuf chosen = nextTarget(allocator);
            return chosen == null ? usual.allocate(allocator) : chosen;
        } catch (OutOfMemoryError noDirectMemory) {
            throw new MemoryShortage(noDirectMemory);
        }
    }

    /** What the socket is to be read into next, the caller's to release; null for any buffer of usual size. */
    ByteBuf nextTarget(ByteBufAllocator allocator) {
        target = null;
        if (refused) {
            return null;
        }
        if (held || !rest.isEmpty()) {
            return room.isShort() ? allocator.ioBuffer(SHORT_READ_BYTES, SHORT_READ_BYTES) : null;
        }
        if (unfinished != null) {
            int sizeBytes = Math.min(makeRoom(), Turns.SHARE_BYTES);
            if (sizeBytes == 0) {
                return allocator.ioBuffer(SHORT_READ_BYTES, SHORT_READ_BYTES);
            }
            target = unfinished
                    .retainedSlice(unfinished.writerIndex(), sizeBytes)
                    .clear();
            return target;
        }
        if (lastFrameSizeBytes >= LARGE_FRAME_BYTES) {
            return allocator.ioBuffer(BEGINNING_BYTES, BEGINNING_BYTES);
        }
        return room.isShort() ? allocator.ioBuffer(SHORT_READ_BYTES, SHORT_READ_BYTES) : null;
    }

    /** Whether a frame is being gathered, and its memory taken. */
    boolean isWithinFrame() {
        return unfinished != null && room.isGranted();
    }

    /** Whether a frame waits for memory. */
    boolean isWaiting() {
        return room.isWaiting();
    }

    /** Moves with every byte that comes. */
    int arrivedBytes() {
        return arrivedBytes;
    }

    /** What the frame that was passed on last holds of the shared memory; 0 when asked again. */
    long takeHeldBytes() {
        long bytes = heldBytes;
        heldBytes = 0;
        return bytes;
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
        arrivedBytes += sizeBytes;
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
            } catch (OutOfMemoryError noDirectMemory) {
                held = true;
                onShortage.accept(noDirectMemory);
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
        room.release();
        if (unfinished != null) {
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

    /** Keeps the beginning of a frame once there is memory for all of it; until then the bytes stay where they came. */
    private void begin(ByteBuf arrived) {
        if (arrived.readableBytes() < LENGTH_SIZE_BYTES) {
            unfinished = context.alloc().directBuffer(LENGTH_SIZE_BYTES);
        } else {
            int sizeBytes = LENGTH_SIZE_BYTES + arrived.getInt(arrived.readerIndex());
            if (!mayGather(sizeBytes)) {
                return;
            }
            int capacity = Math.max(arrived.readableBytes(), FrameRoom.FIRST_PART_BYTES);
            unfinished = context.alloc().directBuffer(Math.min(capacity, sizeBytes));
        }
        unfinished.writeBytes(arrived);
    }

    /** Whether there is memory for a frame; if not, nothing is taken until there is. */
    private boolean mayGather(int sizeBytes) {
        if (room.ask(sizeBytes)) {
            return true;
        }
        held = true;
        onWait.run();
        return false;
    }

    /** Puts bytes that came in a buffer of their own behind the unfinished frame's. */
    private void fill(ByteBuf arrived) {
        int sizeBytes = Math.min(makeRoom(), arrived.readableBytes());
        if (sizeBytes > 0) {
            unfinished.writeBytes(arrived, sizeBytes);
            passOnIfWhole();
        }
    }

    private void passOnIfWhole() {
        if (unfinished.readableBytes() == LENGTH_SIZE_BYTES) {
            int length = unfinished.getInt(0);
            if (!isAcceptable(length) || !mayGather(LENGTH_SIZE_BYTES + length)) {
                return;
            }
        }
        if (missingBytes() == 0) {
            ByteBuf frame = unfinished;
            unfinished = null;
            heldBytes = room.passOn();
            lastFrameSizeBytes = frame.readableBytes();
            context.fireChannelRead(frame.skipBytes(LENGTH_SIZE_BYTES));
        }
    }

    /** Of the length while that is not there, then of the frame. */
    private int missingBytes() {
        int have = unfinished.readableBytes();
        return (have < LENGTH_SIZE_BYTES ? LENGTH_SIZE_BYTES : LENGTH_SIZE_BYTES + unfinished.getInt(0)) - have;
    }

    /** Of what is missing as much as there is room for. Of a large frame that is little until so much has arrived. */
    private int makeRoom() {
        int missing = missingBytes();
        if (!unfinished.isWritable()) {
            int have = unfinished.readableBytes();
            if (have >= LENGTH_SIZE_BYTES && !mayGather(have + missing)) {
                return 0;
            }
            boolean beginning = have < FrameRoom.FIRST_PART_BYTES;
            unfinished.capacity(have + (beginning ? Math.min(missing, FrameRoom.FIRST_PART_BYTES) : missing));
        }
        return Math.min(missing, unfinished.writableBytes());
    }

    private boolean isAcceptable(int length) {
        if (length < 0 || length > maxFrameSizeBytes) {
            refused = true;
            refuse.accept("a frame of " + length + " bytes; the limit is " + maxFrameSizeBytes
                    + " (socket.request.max.bytes)");
            return false;
        }
        if (!room.canHold((long) LENGTH_SIZE_BYTES + length)) {
            refused = true;
            refuse.accept("a frame of " + length + " bytes, for which there is never enough memory"
                    + " (total.in.flight.max.bytes)");
            return false;
        }
        return true;
    }
}
