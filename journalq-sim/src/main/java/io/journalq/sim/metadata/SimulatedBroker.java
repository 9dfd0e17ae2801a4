package io.journalq.sim.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerRegistration;
import java.util.List;

/** What a broker says about itself, and whether it runs. One thread. */
final class SimulatedBroker {
    private static final int PORT = 9092;
    private static final long NONE = -1;

    private final int nodeId;
    private final String rack;
    private final Uuid directory;
    /** Its metadata; null if it is not simulated, but always up to date while the broker runs. */
    private final Observer observer;

    private boolean running;
    private int processes;
    private long epoch = NONE;
    private long previousEpoch = NONE;
    private long nextHeartbeatMs;

    SimulatedBroker(int nodeId, String rack, Observer observer) {
        this.nodeId = nodeId;
        this.rack = rack;
        this.directory = new Uuid(nodeId, 1);
        this.observer = observer;
    }

    int nodeId() {
        return nodeId;
    }

    String rack() {
        return rack;
    }

    Observer observer() {
        return observer;
    }

    boolean isRunning() {
        return running;
    }

    /** Its registration; negative if it has none. */
    long epoch() {
        return epoch;
    }

    /** The registration of its last process. */
    long previousEpoch() {
        return previousEpoch;
    }

    void registered(long newEpoch) {
        epoch = newEpoch;
    }

    /** A new process begins. */
    void start(long nowMs) {
        running = true;
        processes++;
        previousEpoch = epoch;
        epoch = NONE;
        nextHeartbeatMs = nowMs;
    }

    void crash() {
        running = false;
    }

    /** Whether a heartbeat is due. If so, the next one is due {@code intervalMs} later. */
    boolean isHeartbeatDue(long nowMs, long intervalMs) {
        if (!running || epoch < 0 || nowMs < nextHeartbeatMs) {
            return false;
        }
        nextHeartbeatMs = nowMs + intervalMs;
        return true;
    }

    BrokerRegistration registration() {
        return new BrokerRegistration(
                nodeId,
                new Uuid(nodeId, 1L + processes),
                List.of(new ListenerAddress("PLAINTEXT", "broker-" + nodeId + ".example", PORT)),
                rack,
                List.of(),
                List.of(directory));
    }
}
