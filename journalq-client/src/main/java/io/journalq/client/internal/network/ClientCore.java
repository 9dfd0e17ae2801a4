package io.journalq.client.internal.network;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The parts of a client that consumer and admin share: its event loop, its cluster, and its blocking calls. {@link
 * #close()} closes the connections. Thread-safe.
 */
public final class ClientCore implements AutoCloseable {
    private final ClientLoop loop = ClientLoop.acquire();
    private final Cluster cluster;
    private final BlockingCalls calls;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Starts the client.
     *
     * @param listener is notified on the event loop
     */
    public ClientCore(ClientConfig config, Cluster.Listener listener) {
        boolean started = false;
        try {
            this.cluster = new Cluster(config, loop.eventLoop(), listener);
            this.calls = new BlockingCalls(cluster);
            cluster.start();
            started = true;
        } finally {
            if (!started) {
                loop.close();
            }
        }
    }

    public Cluster cluster() {
        return cluster;
    }

    public BlockingCalls calls() {
        return calls;
    }

    /** Throws if {@link #close()} has been called. */
    public void requireOpen() {
        if (closed.get()) {
            throw Cluster.closedClient();
        }
    }

    /** Closes the connections and waits until they are closed. Calls in progress fail. Further calls have no effect. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            loop.eventLoop().submit(cluster::close).syncUninterruptibly();
            loop.close();
        }
    }
}
