package io.journalq.server.network;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.MessageWriter;
import io.netty.buffer.ByteBuf;

/**
 * One request and the place of its answer in its connection's order. Owns the request's frame until the answer is
 * written; whoever keeps a slice of the frame longer retains it.
 *
 * <p>{@link #answered} and {@link #answeredWithNothing} may be called on any thread, one of them, once; everything else
 * happens on the connection's loop.
 */
public abstract class Exchange {
    private final ConnectionHandler connection;
    private final ByteBuf frame;
    private final int frameSizeBytes;
    private State state = State.OPEN;
    /** What the frame holds of the memory for large requests. */
    private long largeBytes;
    /** What is reserved for the answer, or wished for while there is {@link #roomWork}. */
    private long roomBytes;

    private Runnable roomWork;

    private enum State {
        OPEN,
        ANSWERED,
        SILENT,
        /** Its handler failed; whatever it still says is ignored. */
        ABANDONED
    }

    protected Exchange(Connection connection, ByteBuf frame) {
        this.connection = (ConnectionHandler) connection;
        this.frame = frame;
        this.frameSizeBytes = frame.readableBytes();
    }

    /** The connection that the request came in on. */
    public final Connection connection() {
        return connection;
    }

    /** Begins to work on the request. Must not block. */
    protected abstract void handle();

    /** Writes header and body of the answer. Called once after {@link #answered}, also for a connection now closed. */
    protected abstract void writeAnswer(MessageWriter out);

    /** What was made of the frame takes about so much memory besides the frame itself, until the request is answered. */
    protected long bodySizeBytes() {
        return 0;
    }

    /** Names the request in a log line. */
    protected abstract String description();

    /** The answer is ready to be written. */
    protected final void answered() {
        complete(State.ANSWERED);
    }

    /** The request is done and has no answer. */
    protected final void answeredWithNothing() {
        complete(State.SILENT);
    }

    final void abandon() {
        if (state == State.OPEN) {
            state = State.ABANDONED;
            connection.onAnswered(this);
        }
    }

    final boolean isDone() {
        return state != State.OPEN;
    }

    final boolean hasAnswer() {
        return state == State.ANSWERED;
    }

    /** Size of the request without its length field. */
    protected final int frameSizeBytes() {
        return frameSizeBytes;
    }

    /** What the request takes in memory until it is answered. */
    final int heldSizeBytes() {
        return (int) Math.min(Integer.MAX_VALUE, frameSizeBytes + bodySizeBytes());
    }

    /** The same but for what it holds of the memory for large requests. */
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
     * Runs {@code work}, which takes memory for a large answer, once there is so much; also when the client is gone. On the
     * connection's loop.
     */
    protected final void reserveRoom(long sizeBytes, Runnable work) {
        roomBytes = sizeBytes;
        roomWork = work;
        connection.askForRoom();
    }

    final boolean wantsRoom() {
        return roomWork != null;
    }

    final long roomBytes() {
        return roomBytes;
    }

    /** There is room, and {@link #roomBytes} of it are taken. */
    final void useRoom() {
        Runnable work = roomWork;
        roomWork = null;
        work.run();
    }

    /** The client is gone; the work runs without a reservation. */
    final void useNoRoom() {
        roomBytes = 0;
        useRoom();
    }

    /** Whether memory for the answer is reserved. */
    final boolean hasRoom() {
        return roomBytes > 0 && roomWork == null;
    }

    final void releaseFrame() {
        frame.release();
    }

    private void complete(State outcome) {
        if (connection.cycle().loop().inLoop()) {
            completeOnLoop(outcome);
        } else {
            connection.cycle().execute(() -> completeOnLoop(outcome));
        }
    }

    private void completeOnLoop(State outcome) {
        if (state == State.ABANDONED) {
            return;
        }
        Check.that(state == State.OPEN, "a request was answered twice");
        state = outcome;
        connection.onAnswered(this);
    }
}
