package io.journalq.server.broker;

import io.journalq.server.network.AcceptedConnection;
import io.journalq.server.network.Door;
import io.journalq.server.network.LoopContext;
import io.netty.channel.Channel;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A door that is created when its first client connects, on another thread: neither the start of the broker nor a loop
 * waits for its classes, and a broker without such clients does not load them. Any thread.
 */
final class DeferredDoor implements Door {
    private static final Logger log = LoggerFactory.getLogger(DeferredDoor.class);

    private final String name;
    private final Executor blockingPool;
    private final Supplier<Door> create;

    /** Null until it is created. */
    private volatile Door created;

    /**
     * Nothing is created yet.
     *
     * @param name for the log
     * @param blockingPool creates the door
     */
    DeferredDoor(String name, Executor blockingPool, Supplier<Door> create) {
        this.name = name;
        this.blockingPool = blockingPool;
        this.create = create;
    }

    @Override
    public void prepare(Runnable onReady) {
        blockingPool.execute(() -> {
            try {
                created = create.get();
            } catch (RuntimeException | Error defect) {
                log.error("cannot set up the {}: it accepts no connections", name, defect);
                return;
            }
            onReady.run();
        });
    }

    @Override
    public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
        return created.open(channel, loop, listenerName);
    }
}
