package io.journalq.server.network;

import io.journalq.server.network.MemoryShare.Reservation;
import java.util.concurrent.Executor;

/**
 * The memory for the frame that one connection is sending. It is reserved for the complete frame before more than the
 * beginning of the frame is read. Incomplete frames therefore never wait for each other: every frame that was begun can
 * be completed. A large frame uses the memory that all loops share, in order of arrival. Other frames use their loop's
 * budget. Requests that arrive completely in one read need no reservation, and are served while others wait. On the
 * connection's loop.
 */
public final class FrameReservation implements InFlightBudget.Waiter {
    /** Frames above this size use the shared memory, and their buffer is allocated in two steps. */
    static final int LARGE_FRAME_BYTES = 1024 * 1024;

    /**
     * Number of bytes of a large frame that must arrive before the buffer for the complete frame is allocated. For a
     * moment, both buffers exist.
     */
    static final int FIRST_PART_BYTES = 1024 * 1024;

    private final InFlightBudget budget;
    private final MemoryShare shared;
    private final Executor loop;
    private final Runnable onRoom;
    private State state = State.NONE;
    private int smallBytes;
    private Reservation large;
    private boolean released;

    private enum State {
        NONE,
        WAITING,
        GRANTED
    }

    /**
     * The memory of one connection.
     *
     * @param onRoom is called when a wait has ended; the caller must then call {@link #ask} again
     */
    FrameReservation(InFlightBudget budget, MemoryShare shared, Executor loop, Runnable onRoom) {
        this.budget = budget;
        this.shared = shared;
        this.loop = loop;
        this.onRoom = onRoom;
    }

    /** Whether a frame of this size, including its length field, could ever be read. */
    public boolean canHold(long sizeBytes) {
        return sizeBytes <= LARGE_FRAME_BYTES || sizeBytes + FIRST_PART_BYTES <= shared.limitBytes();
    }

    /** Whether memory is so short that reads should be small. */
    boolean isShort() {
        return shared.hasWaiting() || budget.isExceeded();
    }

    public boolean isWaiting() {
        return state == State.WAITING;
    }

    public boolean isGranted() {
        return state == State.GRANTED;
    }

    /** Whether memory for a frame is reserved. If not, the frame waits. Repeated calls are for the same frame. */
    public boolean ask(int sizeBytes) {
        if (state == State.NONE) {
            if (sizeBytes <= LARGE_FRAME_BYTES) {
                askForSmall(sizeBytes);
            } else {
                Reservation[] wish = new Reservation[1];
                wish[0] = new Reservation(
                        (long) sizeBytes + FIRST_PART_BYTES, () -> loop.execute(() -> onGranted(wish[0])));
                large = wish[0];
                state = shared.reserve(large) ? State.GRANTED : State.WAITING;
            }
        }
        return state == State.GRANTED;
    }

    private void askForSmall(int sizeBytes) {
        if (budget.isExceeded()) {
            state = State.WAITING;
            budget.await(this);
        } else {
            state = State.GRANTED;
            smallBytes = sizeBytes;
            budget.take(sizeBytes);
        }
    }

    @Override
    public void onBudgetLow() {
        state = State.NONE;
        onRoom.run();
    }

    private void onGranted(Reservation granted) {
        if (released) {
            shared.giveBack(granted.sizeBytes());
        } else {
            state = State.GRANTED;
            onRoom.run();
        }
    }

    /**
     * The frame is complete, and counts as a request from here.
     *
     * @return the shared memory that it still holds, to be released with the request
     */
    long passOn() {
        budget.giveBack(smallBytes);
        smallBytes = 0;
        long heldBytes = large == null ? 0 : large.sizeBytes();
        large = null;
        state = State.NONE;
        return heldBytes;
    }

    /** The connection has ended. */
    public void release() {
        released = true;
        if (state == State.WAITING) {
            budget.forget(this);
            if (large != null) {
                // If it was granted in the meantime, onGranted releases it.
                shared.cancel(large);
            }
        } else if (large != null) {
            shared.giveBack(large.sizeBytes());
        }
        budget.giveBack(smallBytes);
        smallBytes = 0;
        large = null;
        state = State.NONE;
    }
}
