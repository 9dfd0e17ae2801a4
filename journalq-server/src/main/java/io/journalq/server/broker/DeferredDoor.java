package io.journalq.server.broker;

import io.journalq.server.network.AcceptedConnection;
import io.journalq.server.network.Door;
import io.journalq.server.network.LoopContext;
import io.netty.channel.Channel;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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
    public void prepare(Runnable onReady, Runnable onFailure) {
        try {
            blockingPool.execute(() -> create(onReady, onFailure));
        } catch (RejectedExecutionException noThread) {
            log.error("cannot set up the {}, trying again with its next client: {}", name, noThread.getMessage());
            onFailure.run();
        }
    }

    private void create(Runnable onReady, Runnable onFailure) {
        try {
            created = create.get();
        } catch (RuntimeException | Error failure) {
            // Such as a lack of memory, which may be over when the next client comes.
            log.error("cannot set up the {}, trying again with its next client", name, failure);
            onFailure.run();
            return;
        }
        onReady.run();
    }

    @Override
    public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
        return created.open(channel, loop, listenerName);
    }
}
