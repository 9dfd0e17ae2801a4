package io.journalq.client.network;

/**
 * What a client that only asks consists of: its hold on a loop, its cluster, its synchronous calls. Closing it closes
 * the connections. Thread-safe.
 */
public final class ClientCore implements AutoCloseable {
    private final ClientLoop loop = ClientLoop.acquire();
    private final Cluster cluster;
    private final SyncCalls calls;

    /**
     * Starts a client.
     *
     * @param listener told what happens on the loop
     */
    public ClientCore(ClientConfig config, Cluster.Listener listener) {
        this.cluster = new Cluster(config, loop.eventLoop(), listener);
        this.calls = new SyncCalls(cluster);
        cluster.start();
    }

    public Cluster cluster() {
        return cluster;
    }

    public SyncCalls calls() {
        return calls;
    }

    /** Closes the connections and waits until they are. More than one call does no harm. */
    @Override
    public void close() {
        if (loop.isHeld()) {
            loop.eventLoop().submit(cluster::close).syncUninterruptibly();
            loop.close();
        }
    }
}
