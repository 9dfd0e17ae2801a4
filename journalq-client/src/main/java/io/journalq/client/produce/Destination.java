package io.journalq.client.produce;

import io.journalq.client.network.BrokerConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One broker that a producer sends to: its requests of the current drain, and the lanes that wait for room on its
 * connection. Belongs to the event loop.
 */
final class Destination {
    final List<ProduceCall> forming = new ArrayList<>();
    final ArrayDeque<Lane> stalled = new ArrayDeque<>();
    BrokerConnection connection;
    RequestWindow window = new RequestWindow();
    int requestsInFlight;

    private final boolean answers;

    /** {@code answers}: whether the broker answers requests; when not, only writing them limits their number. */
    Destination(boolean answers) {
        this.answers = answers;
    }

    /** Whether another request may begin besides those that are under way or forming. */
    boolean mayStartRequest() {
        return requestsInFlight + forming.size() < (answers ? window.limit() : RequestWindow.MOST);
    }
}
