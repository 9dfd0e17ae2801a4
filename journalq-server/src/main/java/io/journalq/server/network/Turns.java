package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Shares a loop's time among its connections. One that has had its share of an iteration is left unread; of those that
 * wait, each iteration lets as many go on as make up one share, in their order. So a client that sends requests without
 * end delays others by about one share, and not by all that its socket holds. On the loop.
 */
final class Turns {
    /** What an iteration does for one connection, in bytes of requests and answers. About half a millisecond's work. */
    static final int SHARE_BYTES = 256 * 1024;

    /** A request costs as much time as so many bytes, besides its own. */
    static final int REQUEST_BYTES = 4 * 1024;

    private final LoopCycle cycle;
    private final Set<Taker> waiting = new LinkedHashSet<>();
    private final Runnable grant = this::grant;
    private final Runnable grantAtEnd = this::grantAtEnd;
    private boolean grantRegistered;

    /** A connection that waits. */
    interface Taker {
        /**
         * Others had their turns.
         *
         * @return what the last one here cost, in bytes
         */
        long beginTurn();
    }

    Turns(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Has {@code connection} told when it may go on. */
    void await(Taker connection) {
        waiting.add(connection);
        if (!grantRegistered) {
            grantRegistered = true;
            // By way of a task: in the last phase of an iteration, the next one is meant.
            cycle.enqueue(grantAtEnd);
        }
    }

    void forget(Taker connection) {
        waiting.remove(connection);
    }

    /** In the last phase of an iteration: who goes on now works for the next. */
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
