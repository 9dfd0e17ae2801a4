package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataImage;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** What both APIs of client metrics share, and what is counted of them. Any thread. */
public final class Telemetry {
    private final Subscriptions subscriptions;
    private final TelemetryClients clients;
    private final Supplier<Uuid> ids;
    private final Clock clock;
    private final Executor blockingPool;
    private final int maxSizeBytes;
    private final LongAdder received = new LongAdder();
    private final LongAdder receivedBytes = new LongAdder();
    private final LongAdder refused = new LongAdder();

    /**
     * Makes it.
     *
     * @param ids gives clients ids that were never given before
     * @param blockingPool decompresses what clients send
     * @param maxSizeBytes most that a client may send at once, compressed or not
     * @param memory where clients are charged
     */
    public Telemetry(
            Supplier<MetadataImage> images,
            Supplier<Uuid> ids,
            Clock clock,
            Executor blockingPool,
            int maxSizeBytes,
            MemoryAccount memory) {
        this.subscriptions = new Subscriptions(images);
        this.clients = new TelemetryClients(memory);
        this.ids = ids;
        this.clock = clock;
        this.blockingPool = blockingPool;
        this.maxSizeBytes = maxSizeBytes;
    }

    Subscriptions subscriptions() {
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

    /** Pushes of metrics that were taken. */
    public long received() {
        return received.sum();
    }

    /** Their size, as they came. */
    public long receivedBytes() {
        return receivedBytes.sum();
    }

    /** Requests about metrics that got an error. */
    public long refused() {
        return refused.sum();
    }

    /** Clients that are remembered. */
    public int clientCount() {
        return clients.count();
    }
}
