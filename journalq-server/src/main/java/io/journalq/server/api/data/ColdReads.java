package io.journalq.server.api.data;

import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LoopCycle;
import java.util.ArrayDeque;

/**
 * Orders the reads of one connection that may have to wait for the disk. Reads for one response run at a time, and none
 * run while the client leaves its earlier responses unread. Otherwise, the broker would read without limit for a client
 * that sends requests but reads no responses. On the connection's loop.
 */
final class ColdReads {
    private final LoopCycle cycle;
    private final ArrayDeque<Turn> waiting = new ArrayDeque<>(0);
    private boolean reading;

    private record Turn(RequestContext context, Runnable read) {}

    ColdReads(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Runs {@code read} when it is its turn, possibly immediately. Its turn ends with {@link #done}. */
    void add(RequestContext context, Runnable read) {
        waiting.add(new Turn(context, read));
        next();
    }

    /** All reads for one response have completed. */
    void done() {
        reading = false;
        if (!waiting.isEmpty()) {
            cycle.enqueue(this::next);
        }
    }

    private void next() {
        if (!reading && !waiting.isEmpty()) {
            reading = true;
            Turn turn = waiting.remove();
            turn.context.whenRead(turn.read);
        }
    }
}
