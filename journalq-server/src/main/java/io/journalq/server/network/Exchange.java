package io.journalq.server.network;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.server.loop.LoopCycle;
import io.netty.buffer.ByteBuf;

/**
 * One request and its place in the order of its connection's responses. It owns the frame of the request until the
 * response is written. Code that keeps a slice of the frame longer retains it.
 *
 * <p>One of {@link #responseReady} and {@link #doneWithoutResponse} is called once, on any thread. Everything else
 * happens on the connection's loop.
 */
public abstract class Exchange {
    private final Connection connection;
    private final ByteBuf frame;
    private final int frameSizeBytes;
    private Owner owner;
    private State state = State.OPEN;
    /** The part of the memory for large requests that the frame holds. */
    private long largeBytes;
    /** Memory that is reserved for the response, or requested while {@link #roomWork} is set. */
    private long roomBytes;

    private Runnable roomWork;

    private enum State {
        OPEN,
        RESPONDED,
        SILENT,
        /** The handler failed. Its later calls are ignored. */
        ABANDONED
    }

    /** Sends the responses of a connection in order. On the connection's loop. */
    interface Owner {
        /** The exchange is done. Its response, if it has one, can be sent. */
        void onDone(Exchange exchange);

        /** An exchange needs memory for its response. */
        void askForRoom();
    }

    /** Opens the exchange of a frame. Called on the connection's loop. */
    @FunctionalInterface
    public interface Factory {
        /**
         * Decodes a frame.
         *
         * @param frame one request without its length field; from this call on, the exchange owns it
         * @throws RuntimeException when the frame cannot be decoded; the connection is then closed and the frame
         *     released
         */
        Exchange open(Connection connection, ByteBuf frame);
    }

    protected Exchange(Connection connection, ByteBuf frame) {
        this.connection = connection;
        this.frame = frame;
        this.frameSizeBytes = frame.readableBytes();
    }

    /** The connection that the request arrived on. */
    public final Connection connection() {
        return connection;
    }

    /** Sets the sender of the response. Called before {@link #handle}. */
    final void ownedBy(Owner itsOwner) {
        owner = itsOwner;
    }

    /** Begins to process the request. Must not block. */
    protected abstract void handle();

    /**
     * Writes header and body of the response. Called once after {@link #responseReady}, even for a closed connection.
     */
    protected abstract void writeResponse(MessageWriter out);

    /** An estimate of the memory for the decoded request until the response, in addition to the frame. */
    protected long bodySizeBytes() {
        return 0;
    }

    /** Names the request in a log line. */
    protected abstract String description();

    /** The response can be written. */
    protected final void responseReady() {
        complete(State.RESPONDED);
    }

    /** The request is done and has no response. */
    protected final void doneWithoutResponse() {
        complete(State.SILENT);
    }

    final void abandon() {
        if (state == State.OPEN) {
            state = State.ABANDONED;
            owner.onDone(this);
        }
    }

    final boolean isDone() {
        return state != State.OPEN;
    }

    final boolean hasResponse() {
        return state == State.RESPONDED;
    }

    /** Size of the request without its length field. */
    protected final int frameSizeBytes() {
        return frameSizeBytes;
    }

    /** Memory of the request until its response. */
    final int heldSizeBytes() {
        return (int) Math.min(Integer.MAX_VALUE, frameSizeBytes + bodySizeBytes());
    }

    /** The same without the memory for large requests. */
    final int budgetSizeBytes() {
        return largeBytes > 0 ? (int) Math.min(Integer.MAX_VALUE, bodySizeBytes()) : heldSizeBytes();
    }

    final void holdLarge(long sizeBytes) {
        largeBytes = sizeBytes;
    }

    final long largeBytes() {
        return largeBytes;
    }

    /**
     * Runs {@code work}, which allocates memory for a large response, once enough memory is available, or when the
     * client has disconnected. On the connection's loop.
     */
    protected final void reserveRoom(long sizeBytes, Runnable work) {
        roomBytes = sizeBytes;
        roomWork = work;
        owner.askForRoom();
    }

    final boolean wantsRoom() {
        return roomWork != null;
    }

    final long roomBytes() {
        return roomBytes;
    }

    /** The memory is available, and {@link #roomBytes} of it are reserved. */
    final void useRoom() {
        Runnable work = roomWork;
        roomWork = null;
        work.run();
    }

    /** The client has disconnected. The work runs without a reservation. */
    final void useNoRoom() {
        roomBytes = 0;
        useRoom();
    }

    /** Whether memory for the response is reserved. */
    final boolean hasRoom() {
        return roomBytes > 0 && roomWork == null;
    }

    final void releaseFrame() {
        frame.release();
    }

    private void complete(State outcome) {
        LoopCycle cycle = connection.cycle();
        if (cycle.loop().inLoop()) {
            completeOnLoop(outcome);
        } else {
            cycle.execute(() -> completeOnLoop(outcome));
        }
    }

    private void completeOnLoop(State outcome) {
        if (state == State.ABANDONED) {
            return;
        }
        Check.that(state == State.OPEN, "a request got two responses");
        state = outcome;
        owner.onDone(this);
    }
}
