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
 * Splits the bytes of a connection into frames. A frame consists of a length field of four bytes and that number of
 * bytes.
 *
 * <p>A frame that arrives completely in one read is passed on as a slice of the read buffer. A frame that arrives in
 * parts is gathered in a separate buffer, into which the socket is read directly ({@link FrameReads}), so that the
 * bytes of a large frame are not copied. Memory for the complete frame is reserved first ({@link FrameReservation}).
 * While there is none, the socket is not read. If a length is negative or above the limit, the connection is closed.
 *
 * <p>For a frame that arrives in small parts, the socket wakes its loop only when the rest of the frame has arrived. A
 * client that sends one byte at a time therefore does not cause one read for each byte. While its connection accepts no
 * frames, the decoder keeps arrived bytes unsplit. A read may contain thousands of small frames, and the garbage
 * collector would have to move each of them from turn to turn.
 *
 * <p>One for each connection, on its loop.
 */
final class RequestFrameDecoder extends ChannelInboundHandlerAdapter {
    private static final int LENGTH_SIZE_BYTES = Integer.BYTES;
    /**
     * The first three bytes of a TLS handshake: its type of record, and the version that every client names there. A
     * length that begins like this is 352 MiB.
     */
    private static final int TLS_HELLO_BEGINNING = 0x160301;
    /** Size of a read while memory is short. */
    private static final int SHORT_READ_BYTES = 4 * 1024;
    /**
     * After a frame of this size, only the beginning of the next frame is read at first, because the next frame is
     * probably as large.
     */
    private static final int LARGE_FRAME_BYTES = 64 * 1024;

    private static final int BEGINNING_BYTES = 1024;
    /** A part below this size is small. */
    private static final int SMALL_PART_BYTES = 512;
    /**
     * Maximum number of bytes of a frame that a socket gathers before it wakes its loop. Every socket buffer has room
     * for this many.
     */
    private static final int MOST_AWAITED_BYTES = 16 * 1024;

    private final Consumer<String> refuse;
    private final Consumer<String> cutShort;
    private final IntConsumer readPart;
    private final Runnable onWait;
    private final Consumer<OutOfMemoryError> onShortage;
    private int maxFrameSizeBytes;
    /** Why frames are limited to this size, in a log line. */
    private String sizeLimitName = "socket.request.max.bytes";
    /** Whether reads are small, because the client has not authenticated. */
    private boolean readsAreSmall;

    private final FrameReservation room;
    private final ReceiveLowWatermark lowWater;
    private int lastFrameSizeBytes;
    /** An incomplete frame, including its length field. */
    private ByteBuf unfinished;
    /** The unfilled part of {@link #unfinished} that was passed to the socket for its last read. */
    private ByteBuf target;

    /** Memory held by the frame that was passed on last, as returned by {@link FrameReservation#passOn}. */
    private long heldBytes;

    /** Number of bytes that arrived, modulo 2^32. */
    private int arrivedBytes;

    private boolean refused;

    /** Bytes that arrived while the connection accepts no frames. */
    private final ArrayDeque<ByteBuf> rest = new ArrayDeque<>(0);

    private boolean held;
    private ChannelHandlerContext context;

    /**
     * A decoder for one connection.
     *
     * @param refuse closes the connection, with a reason
     * @param cutShort is called when the connection ends within a frame
     * @param readPart receives the number of bytes that arrived of an incomplete frame
     * @param onWait is called when a frame waits for memory; {@link #goOn} tries again
     * @param onShortage is called when an allocation fails although its memory was reserved; {@link #goOn} tries again
     */
    RequestFrameDecoder(
            Consumer<String> refuse,
            Consumer<String> cutShort,
            IntConsumer readPart,
            Runnable onWait,
            Consumer<OutOfMemoryError> onShortage,
            int maxFrameSizeBytes,
            FrameReservation room,
            ReceiveLowWatermark lowWater) {
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

    /** The buffer for the next read of the socket, which the caller releases; null for any buffer of the usual size. */
    ByteBuf nextTarget(ByteBufAllocator allocator) {
        target = null;
        if (refused) {
            return null;
        }
        if (held || !rest.isEmpty()) {
            return readsAreSmall || room.isShort() ? allocator.ioBuffer(SHORT_READ_BYTES, SHORT_READ_BYTES) : null;
        }
        if (unfinished != null) {
            int sizeBytes = Math.min(makeRoom(), FairScheduler.SHARE_BYTES);
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
        return readsAreSmall || room.isShort() ? allocator.ioBuffer(SHORT_READ_BYTES, SHORT_READ_BYTES) : null;
    }

    /** Limits frames and reads until the client has authenticated. */
    void limitToAuthentication() {
        maxFrameSizeBytes = Math.min(maxFrameSizeBytes, PreAuthentication.MAX_FRAME_SIZE_BYTES);
        sizeLimitName = "before authentication";
        readsAreSmall = true;
    }

    /** Ends {@link #limitToAuthentication}. */
    void liftLimits(int newMaxFrameSizeBytes) {
        maxFrameSizeBytes = newMaxFrameSizeBytes;
        sizeLimitName = "socket.request.max.bytes";
        readsAreSmall = false;
    }

    /** Whether a frame is being gathered, so that its memory is reserved. */
    boolean isWithinFrame() {
        return unfinished != null && room.isGranted();
    }

    /** Whether a frame waits for memory. */
    boolean isWaiting() {
        return room.isWaiting();
    }

    /** Changes with every byte that arrives. */
    int arrivedBytes() {
        return arrivedBytes;
    }

    /** The shared memory that the frame passed on last holds. Returns 0 at the second call. */
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
    @SuppressWarnings("ReferenceEquality") // buffers are compared by identity, not by content
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

    /** Passes on the frames that have arrived, until {@link #hold} is called again. */
    void goOn() {
        held = false;
        if (unfinished != null && !refused && missingBytes() == 0) {
            // An empty frame that had to wait for memory: no byte of it follows.
            passOnIfWhole();
        }
        cutRest();
    }

    /** Drops the bytes that have arrived. */
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

    /**
     * Keeps the beginning of a frame once memory for the complete frame is reserved. Until then, the bytes stay in the
     * read buffer.
     */
    private void begin(ByteBuf arrived) {
        if (arrived.readableBytes() < LENGTH_SIZE_BYTES) {
            unfinished = context.alloc().directBuffer(LENGTH_SIZE_BYTES);
        } else {
            int sizeBytes = LENGTH_SIZE_BYTES + arrived.getInt(arrived.readerIndex());
            if (!mayGather(sizeBytes)) {
                return;
            }
            int capacity = Math.max(arrived.readableBytes(), FrameReservation.FIRST_PART_BYTES);
            unfinished = context.alloc().directBuffer(Math.min(capacity, sizeBytes));
        }
        unfinished.writeBytes(arrived);
    }

    /** Whether memory for a frame is reserved. If not, no bytes are taken until it is. */
    private boolean mayGather(int sizeBytes) {
        if (room.ask(sizeBytes)) {
            return true;
        }
        held = true;
        onWait.run();
        return false;
    }

    /** Appends bytes from another buffer to the incomplete frame. */
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

    /** Number of missing bytes of the length field, or of the frame once the length field is complete. */
    private int missingBytes() {
        int have = unfinished.readableBytes();
        return (have < LENGTH_SIZE_BYTES ? LENGTH_SIZE_BYTES : LENGTH_SIZE_BYTES + unfinished.getInt(0)) - have;
    }

    /**
     * Returns how many of the missing bytes the buffer has room for, and enlarges it if it is full. The buffer of a
     * large frame stays small until {@link FrameReservation#FIRST_PART_BYTES} have arrived.
     */
    private int makeRoom() {
        int missing = missingBytes();
        if (!unfinished.isWritable()) {
            int have = unfinished.readableBytes();
            if (have >= LENGTH_SIZE_BYTES && !mayGather(have + missing)) {
                return 0;
            }
            boolean beginning = have < FrameReservation.FIRST_PART_BYTES;
            unfinished.capacity(have + (beginning ? Math.min(missing, FrameReservation.FIRST_PART_BYTES) : missing));
        }
        return Math.min(missing, unfinished.writableBytes());
    }

    private boolean isAcceptable(int length) {
        if (length < 0 || length > maxFrameSizeBytes) {
            refused = true;
            if (length >>> Byte.SIZE == TLS_HELLO_BEGINNING) {
                refuse.accept("the beginning of a TLS handshake; this listener is not encrypted");
                return false;
            }
            refuse.accept(
                    "a frame of " + length + " bytes; the limit is " + maxFrameSizeBytes + " (" + sizeLimitName + ")");
            return false;
        }
        if (!room.canHold((long) LENGTH_SIZE_BYTES + length)) {
            refused = true;
            refuse.accept("a frame of " + length
                    + " bytes is larger than the memory for requests (total.in.flight.max.bytes)");
            return false;
        }
        return true;
    }

    /**
     * The memory for a read could not be allocated. Netty would close the connection after an OutOfMemoryError. This
     * exception only ends the read, and the connection is read again a little later.
     */
    static final class MemoryShortage extends RuntimeException {
        private static final long serialVersionUID = 1L;

        MemoryShortage(OutOfMemoryError cause) {
            super(cause.getMessage(), null, false, false);
        }
    }
}
