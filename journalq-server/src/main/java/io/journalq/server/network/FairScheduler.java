package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Divides the time of a loop among its connections. A connection that has used its share of an iteration is no longer
 * read. Each iteration resumes waiting connections in order, as many as make up one share. A client that sends requests
 * without pause therefore delays others by about one share, and not by everything in its socket. On the loop.
 */
public final class FairScheduler {
    /** Work of one iteration for one connection, in bytes of requests and responses. About 0.5 ms. */
    public static final int SHARE_BYTES = 256 * 1024;

    /** The time of a request corresponds to this number of bytes, in addition to its size. */
    public static final int REQUEST_BYTES = 4 * 1024;

    private final LoopCycle cycle;
    private final Set<Participant> waiting = new LinkedHashSet<>();
    private final Runnable grant = this::grant;
    private final Runnable grantAtEnd = this::grantAtEnd;
    private boolean grantRegistered;

    /** A connection that waits for its turn. */
    public interface Participant {
        /**
         * The connection may continue, because the other connections had their turns.
         *
         * @return the cost of its previous turn, in bytes
         */
        long beginTurn();
    }

    FairScheduler(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Calls {@code connection} when it may continue. */
    public void await(Participant connection) {
        waiting.add(connection);
        if (!grantRegistered) {
            grantRegistered = true;
            // As a task: in the last phase of an iteration, onFlush would still run in that iteration, not in the next.
            cycle.enqueue(grantAtEnd);
        }
    }

    public void forget(Participant connection) {
        waiting.remove(connection);
    }

    /** Resumes connections in the last phase of an iteration, so that they continue in the next one. */
    private void grant() {
        long grantedBytes = 0;
        Iterator<Participant> next = waiting.iterator();
        while (next.hasNext() && grantedBytes < SHARE_BYTES) {
            Participant connection = next.next();
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
