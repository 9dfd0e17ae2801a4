package io.journalq.server.network;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of the process's direct memory that the connections of all loops share. What does not fit waits, first come first
 * served, so that a large reservation is not overtaken for ever. Any thread; what is small and frequent does not come here.
 */
final class MemoryShare {
    private final long limitBytes;
    private final ArrayDeque<Reservation> waiting = new ArrayDeque<>();

    /** Written under the lock. */
    private volatile long usedBytes;

    private volatile boolean hasWaiting;

    /**
     * A wish for memory.
     *
     * @param granted runs once the memory is taken, on whatever thread gave some back
     */
    record Reservation(long sizeBytes, Runnable granted) {}

    MemoryShare(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    long limitBytes() {
        return limitBytes;
    }

    long usedBytes() {
        return usedBytes;
    }

    boolean isFull() {
        return usedBytes >= limitBytes;
    }

    /** Whether somebody waits for memory that others hold. */
    boolean hasWaiting() {
        return hasWaiting;
    }

    /** Takes memory if it is there and nobody waits; else {@code wish} waits for it. Returns whether it was taken. */
    synchronized boolean reserve(Reservation wish) {
        if (waiting.isEmpty() && fits(wish)) {
            usedBytes += wish.sizeBytes();
            return true;
        }
        waiting.add(wish);
        hasWaiting = true;
        return false;
    }

    /** Takes memory without asking, for what was made already. */
    synchronized void take(long sizeBytes) {
        usedBytes += sizeBytes;
    }

    /** Ends a wait. Returns false when the memory was taken meanwhile. */
    boolean cancel(Reservation wish) {
        List<Reservation> next;
        boolean waited;
        synchronized (this) {
            waited = waiting.remove(wish);
            next = grantNext();
        }
        next.forEach(granted -> granted.granted().run());
        return waited;
    }

    void giveBack(long sizeBytes) {
        List<Reservation> next;
        synchronized (this) {
            usedBytes -= sizeBytes;
            next = grantNext();
        }
        next.forEach(granted -> granted.granted().run());
    }

    private synchronized List<Reservation> grantNext() {
        if (!hasWaiting) {
            return List.of();
        }
        List<Reservation> granted = new ArrayList<>();
        while (!waiting.isEmpty() && fits(waiting.peek())) {
            Reservation next = waiting.remove();
            usedBytes += next.sizeBytes();
            granted.add(next);
        }
        hasWaiting = !waiting.isEmpty();
        return granted;
    }

    /** What is larger than everything is served alone. */
    private boolean fits(Reservation wish) {
        return usedBytes == 0 || usedBytes + wish.sizeBytes() <= limitBytes;
    }
}
