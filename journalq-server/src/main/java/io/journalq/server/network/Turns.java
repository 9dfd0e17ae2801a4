package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Shares the time of a loop among its connections. A connection that has used its share of an iteration is left unread.
 * Each iteration lets as many of the waiting connections go on as make up one share, in their order. So a client that
 * sends requests without pause delays others by about one share, and not by all that its socket holds. On the loop.
 */
public final class Turns {
    /** What an iteration does for one connection, in bytes of requests and responses. About 0.5 ms of work. */
    public static final int SHARE_BYTES = 256 * 1024;

    /** A request costs as much time as this number of bytes, in addition to its own. */
    public static final int REQUEST_BYTES = 4 * 1024;

    private final LoopCycle cycle;
    private final Set<Taker> waiting = new LinkedHashSet<>();
    private final Runnable grant = this::grant;
    private final Runnable grantAtEnd = this::grantAtEnd;
    private boolean grantRegistered;

    /** A connection that waits. */
    public interface Taker {
        /**
         * The other connections had their turns.
         *
         * @return what the last turn of this connection cost, in bytes
         */
        long beginTurn();
    }

    Turns(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Calls {@code connection} when it may go on. */
    public void await(Taker connection) {
        waiting.add(connection);
        if (!grantRegistered) {
            grantRegistered = true;
            // As a task, because in the last phase of an iteration the next iteration is meant.
            cycle.enqueue(grantAtEnd);
        }
    }

    public void forget(Taker connection) {
        waiting.remove(connection);
    }

    /** In the last phase of an iteration: connections that go on now work in the next one. */
    private void grant() {
        long grantedBytes = 0;
        Iterator<Taker> next = waiting.iterator();
        while (next.hasNext() && grantedBytes < SHARE_BYTES) {
            Taker connection = next.next();
            next.remove();
            grantedBytes += connection.beginTurn();
        }
        grantRegistered = !waiting.isEmpty();
        if (grantRegistered) {
            cycle.enqueue(grantAtEnd);
        }
    }

    private void grantAtEnd() {
        cycle.onFlush(grant);
    }
}
