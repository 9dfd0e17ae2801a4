package io.journalq.server.network;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of the direct memory, shared by the connections of all loops. Reservations that do not fit wait in order of
 * arrival, so that a large reservation is never overtaken forever. Any thread. Small and frequent allocations are not
 * reserved here.
 */
final class MemoryShare {
    private final long limitBytes;
    private final ArrayDeque<Reservation> waiting = new ArrayDeque<>();

    /** Written under the lock. */
    private volatile long usedBytes;

    private volatile boolean hasWaiting;

    /**
     * A reservation of memory.
     *
     * @param granted is called when the memory is reserved, on the thread that released some
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

    /** Whether a reservation waits for memory that others hold. */
    boolean hasWaiting() {
        return hasWaiting;
    }

    /**
     * Reserves memory if enough is free and no reservation waits; otherwise {@code wish} waits. Returns whether the
     * memory was reserved.
     */
    synchronized boolean reserve(Reservation wish) {
        if (waiting.isEmpty() && fits(wish)) {
            usedBytes += wish.sizeBytes();
            return true;
        }
        waiting.add(wish);
        hasWaiting = true;
        return false;
    }

    /** Counts memory that is allocated already, without a check. */
    synchronized void take(long sizeBytes) {
        usedBytes += sizeBytes;
    }

    /** Ends a wait. Returns false if the memory was reserved in the meantime. */
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

    /** A reservation larger than the whole share is granted when no memory is used. */
    private boolean fits(Reservation wish) {
        return usedBytes == 0 || usedBytes + wish.sizeBytes() <= limitBytes;
    }
}
