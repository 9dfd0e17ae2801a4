package io.journalq.server.network;

import io.journalq.server.network.MemoryShare.Reservation;
import java.util.concurrent.Executor;

/**
 * The memory for the frame that one connection is sending. It is reserved for the whole frame before more than its
 * beginning is read, so that half-read frames never wait for each other: every frame that was begun can be completed. A
 * large frame draws on what all loops share, in order of arrival; another on its loop's budget for such frames. Requests that
 * arrive whole in one read do not come here, and are served while others wait. On the connection's loop.
 */
final class FrameRoom implements InFlightBudget.Waiter {
    /** Frames above this size draw on the shared memory, and their memory is taken in two steps. */
    static final int LARGE_FRAME_BYTES = 1024 * 1024;

    /** Of a large frame so much must arrive before memory is taken for all of it. Then both are held for a moment. */
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
     * For one connection.
     *
     * @param onRoom runs when a wait is over, and {@link #ask} is to be called again
     */
    FrameRoom(InFlightBudget budget, MemoryShare shared, Executor loop, Runnable onRoom) {
        this.budget = budget;
        this.shared = shared;
        this.loop = loop;
        this.onRoom = onRoom;
    }

    /** Whether a frame of this size, with its length, could ever be read. */
    boolean canHold(long sizeBytes) {
        return sizeBytes <= LARGE_FRAME_BYTES || sizeBytes + FIRST_PART_BYTES <= shared.limitBytes();
    }

    /** Whether memory is so short that reads should be small. */
    boolean isShort() {
        return shared.hasWaiting() || budget.isExceeded();
    }

    boolean isWaiting() {
        return state == State.WAITING;
    }

    boolean isGranted() {
        return state == State.GRANTED;
    }

    /** Whether there is memory for a frame; if not, it waits. Asked again, it means the same frame. */
    boolean ask(int sizeBytes) {
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
     * The frame is whole, and counts as a request from here.
     *
     * @return what it goes on holding of the shared memory; to be given back with the request
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
    void release() {
        released = true;
        if (state == State.WAITING) {
            budget.forget(this);
            if (large != null) {
                // If it was granted meanwhile, onGranted gives it back.
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
