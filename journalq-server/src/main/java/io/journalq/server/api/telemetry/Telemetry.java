package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataImage;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** The shared state and the counters of both client metrics APIs. Any thread. */
public final class Telemetry {
    private final TelemetrySubscriptions subscriptions;
    private final TelemetryClients clients;
    private final Supplier<Uuid> ids;
    private final Clock clock;
    private final Executor blockingPool;
    private final int maxSizeBytes;
    private final LongAdder received = new LongAdder();
    private final LongAdder receivedBytes = new LongAdder();
    private final LongAdder refused = new LongAdder();

    /**
     * Creates the state.
     *
     * @param ids supplies unique ids for clients
     * @param blockingPool decompresses pushes
     * @param maxSizeBytes maximum size of a push, compressed or not
     * @param memory is charged for clients
     */
    public Telemetry(
            Supplier<MetadataImage> images,
            Supplier<Uuid> ids,
            Clock clock,
            Executor blockingPool,
            int maxSizeBytes,
            MemoryAccount memory) {
        this.subscriptions = new TelemetrySubscriptions(images);
        this.clients = new TelemetryClients(memory);
        this.ids = ids;
        this.clock = clock;
        this.blockingPool = blockingPool;
        this.maxSizeBytes = maxSizeBytes;
    }

    TelemetrySubscriptions subscriptions() {
        return subscriptions;
    }

    TelemetryClients clients() {
        return clients;
    }

    Uuid newId() {
        return ids.get();
    }

    long nowMs() {
        return clock.millis();
    }

    Executor blockingPool() {
        return blockingPool;
    }

    int maxSizeBytes() {
        return maxSizeBytes;
    }

    void onReceived(int sizeBytes) {
        received.increment();
        receivedBytes.add(sizeBytes);
    }

    void onRefused() {
        refused.increment();
    }

    /** Number of accepted pushes. */
    public long received() {
        return received.sum();
    }

    /** Their size as received. */
    public long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Number of requests whose response had an error. */
    public long refused() {
        return refused.sum();
    }

    /** Number of clients that are tracked. */
    public int clientCount() {
        return clients.count();
    }
}
