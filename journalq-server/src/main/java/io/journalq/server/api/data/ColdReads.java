package io.journalq.server.api.data;

import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LoopCycle;
import java.util.ArrayDeque;

/**
 * The reads of one connection that may have to wait for the disk: those of one answer at a time, and none while the client
 * leaves its answers unread. Else clients that ask for everything again and again and read nothing would have the broker
 * read for them without end. On the connection's loop.
 */
final class ColdReads {
    private final LoopCycle cycle;
    private final ArrayDeque<Turn> waiting = new ArrayDeque<>(0);
    private boolean reading;

    private record Turn(RequestContext context, Runnable read) {}

    ColdReads(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Has {@code read} run when it is its turn, perhaps at once; {@link #done} ends that. */
    void add(RequestContext context, Runnable read) {
        waiting.add(new Turn(context, read));
        next();
    }

    /** All that was read for one answer is there. */
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
