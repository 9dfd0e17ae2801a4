package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * The shared memory that the responses of one connection hold until they are written to the socket, and the one
 * reservation that the connection may wait for. On the connection's loop.
 */
final class ResponseMemory {
    /**
     * Unsent responses of this size are charged at once. Smaller ones are charged only if the socket does not take
     * them.
     */
    private static final long CHARGE_AT_ONCE_BYTES = 256 * 1024;

    private final MemoryShare share;
    private final LoopCycle cycle;

    /** Charged for responses that are not written to the socket, without those in {@link #unsentParts}. */
    private long chargedBytes;

    /** Number of parts of responses that wait until the client reads. Each part holds its memory. */
    private int unsentParts;

    private MemoryShare.Reservation waiting;
    private boolean closed;

    ResponseMemory(MemoryShare share, LoopCycle cycle) {
        this.share = share;
        this.cycle = cycle;
    }

    /** Whether the connection waits for memory. */
    boolean isWaiting() {
        return waiting != null;
    }

    /** Whether responses hold memory because the client does not read them. */
    boolean holdsUnsent() {
        return unsentParts > 0;
    }

    /**
     * Whether there is free memory. If not, {@code work} runs once there is, unless the connection is waiting already.
     */
    boolean hasFree(Runnable work) {
        if (!share.isFull()) {
            return true;
        }
        boolean taken = reserve(1, () -> {
            share.giveBack(1);
            work.run();
        });
        if (taken) {
            share.giveBack(1);
        }
        return taken;
    }

    /**
     * Reserves memory, or runs {@code work} once it is reserved. Does neither if the connection is waiting already.
     *
     * @return whether it was reserved at once; {@code work} does not run then
     */
    boolean reserve(long sizeBytes, Runnable work) {
        if (waiting != null) {
            return false;
        }
        MemoryShare.Reservation[] reservation = new MemoryShare.Reservation[1];
        reservation[0] =
                new MemoryShare.Reservation(sizeBytes, () -> cycle.enqueue(() -> onGranted(reservation[0], work)));
        if (share.reserve(reservation[0])) {
            return true;
        }
        waiting = reservation[0];
        return false;
    }

    private void onGranted(MemoryShare.Reservation granted, Runnable work) {
        if (closed) {
            share.giveBack(granted.sizeBytes());
        } else {
            waiting = null;
            work.run();
        }
    }

    /**
     * Charges large responses before they are flushed, because many connections may have large responses in one
     * iteration.
     */
    void chargeIfLarge(ResponseQueue responses) {
        if (responses.passedOnBytes() >= CHARGE_AT_ONCE_BYTES) {
            long bytes = responses.takePassedOnBytes();
            share.take(bytes);
            chargedBytes += bytes;
        }
    }

    /** Charges the responses that are not written to the socket, until they are. */
    void chargeUnsent(ResponseQueue responses, ChannelHandlerContext context) {
        long passedOnBytes = responses.takePassedOnBytes();
        ChannelOutboundBuffer outbound = context.channel().unsafe().outboundBuffer();
        if (outbound == null || outbound.totalPendingWriteBytes() == 0) {
            giveBackCharged();
        } else if (chargedBytes + passedOnBytes > 0) {
            share.take(passedOnBytes);
            long partBytes = chargedBytes + passedOnBytes;
            chargedBytes = 0;
            unsentParts++;
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> {
                unsentParts--;
                share.giveBack(partBytes);
            });
        }
    }

    private void giveBackCharged() {
        if (chargedBytes > 0) {
            share.giveBack(chargedBytes);
            chargedBytes = 0;
        }
    }

    /** Ends the wait. The memory of {@link #unsentParts} is released when the channel fails their writes. */
    void close() {
        closed = true;
        if (waiting != null) {
            // If it was granted in the meantime, onGranted releases it.
            share.cancel(waiting);
            waiting = null;
        }
        giveBackCharged();
    }
}
