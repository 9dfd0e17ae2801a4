package io.journalq.server.network;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The size of all requests on one loop that are not answered yet. Connections that find it used up wait here and go on
 * once enough is given back. For the loop's thread only.
 */
final class InFlightBudget {
    private final long limitBytes;
    private final Set<ConnectionHandler> waiting = new LinkedHashSet<>();
    private long usedBytes;

    InFlightBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    void take(int sizeBytes) {
        usedBytes += sizeBytes;
    }

    void giveBack(int sizeBytes) {
        usedBytes -= sizeBytes;
        if (!waiting.isEmpty() && isLow()) {
            waiting.forEach(ConnectionHandler::flushLater);
            waiting.clear();
        }
    }

    boolean isExceeded() {
        return usedBytes > limitBytes;
    }

    boolean isLow() {
        return usedBytes <= limitBytes * ConnectionLimits.LOW_WATER;
    }

    /** Has {@code connection} called once the budget is low. */
    void await(ConnectionHandler connection) {
        waiting.add(connection);
    }

    void forget(ConnectionHandler connection) {
        waiting.remove(connection);
    }

    long usedBytes() {
        return usedBytes;
    }
}
