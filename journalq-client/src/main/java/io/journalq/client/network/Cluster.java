package io.journalq.client.network;

import io.journalq.client.JournalQException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One client's connections, one per broker, and through {@link #metadata()} what it knows of the cluster. Opens a
 * connection when a call needs one, again after a growing pause when it broke, and gives up those that do not answer.
 * Belongs to the client's event loop; {@link #metadata()}'s view may be read by any thread.
 */
public final class Cluster {
    private static final int TICK_MS = 100;
    /** Ids of second connections lie far below those of bootstrap addresses, which count down from -1. */
    private static final int FIRST_SECOND_CONNECTION = Integer.MIN_VALUE + 1;

    /** Told on the loop what a client's machinery must know. */
    public interface Listener {
        /** The view changed. */
        default void onView(ClusterView view) {}

        /** A connection can take more calls: it became ready, or its outbound buffer has room again. */
        default void onConnectionReady(BrokerConnection connection) {}

        /** A connection is closed; the next call to the broker opens another. */
        default void onConnectionClosed(BrokerConnection connection) {}

        /** Time passed; called every {@value Cluster#TICK_MS} ms. */
        default void onTick(long nowNanos) {}
    }

    private final ClientConfig config;
    private final EventLoop eventLoop;
    private final Listener listener;
    private final Metadata metadata;
    private final Map<Integer, BrokerConnection> connections = new HashMap<>();
    private final Map<Integer, Failures> failures = new HashMap<>();
    private final BrokerConnection.Listener connectionListener = new ConnectionListener();
    private ScheduledFuture<?> ticks;
    private boolean closed;
    private int nextNode;
    private volatile JournalQException lastFailure;

    /** Refused or broken connections to one broker since it last was ready. */
    private static final class Failures {
        private int count;
        private long retryAtNanos;
        private JournalQException last;
    }

    public Cluster(ClientConfig config, EventLoop eventLoop, Listener listener) {
        this.config = config;
        this.eventLoop = eventLoop;
        this.listener = listener;
        this.metadata = new Metadata(this, config, listener);
    }

    /** Starts the clock; any thread, once. */
    public void start() {
        ticks = eventLoop.scheduleAtFixedRate(this::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    }

    public ClientConfig config() {
        return config;
    }

    public EventLoop eventLoop() {
        return eventLoop;
    }

    public Metadata metadata() {
        return metadata;
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * The connection to a broker, opening or ready; null when its address is unknown, or it broke and it is too early to
     * try again.
     */
    public BrokerConnection connection(int nodeId) {
        BrokerConnection known = connections.get(nodeId);
        if (known != null) {
            return known;
        }
        HostAndPort address = addressOf(nodeId);
        if (closed || address == null || pauseNanos(nodeId) > 0) {
            return null;
        }
        BrokerConnection opened = new BrokerConnection(nodeId, address, config, eventLoop, connectionListener);
        connections.put(nodeId, opened);
        opened.open();
        return connections.get(nodeId);
    }

    /**
     * The id of a second connection to a broker, for requests that must not wait behind those of the first: answers come
     * in order, and a broker holds some of them back.
     */
    public static int secondConnection(int nodeId) {
        return FIRST_SECOND_CONNECTION + nodeId;
    }

    /** Why a broker cannot be reached at the moment; null when nothing is known against it. */
    public JournalQException lastFailure(int nodeId) {
        Failures failed = failures.get(nodeId);
        return failed == null ? null : failed.last;
    }

    /** A connection to any broker, the ready ones first; null when none can be tried now. */
    public BrokerConnection anyConnection() {
        List<Integer> nodes = candidates();
        for (int node : nodes) {
            BrokerConnection known = connections.get(node);
            if (known != null && known.isReady()) {
                return known;
            }
        }
        for (int i = 0; i < nodes.size(); i++) {
            BrokerConnection opened = connection(nodes.get(Math.floorMod(nextNode + i, nodes.size())));
            if (opened != null) {
                return opened;
            }
        }
        return null;
    }

    /** Why no broker can be reached. Any thread. */
    public JournalQException noBroker() {
        JournalQException last = lastFailure;
        return last != null
                ? last
                : new ConnectionFailedException(
                        "no broker of " + config.bootstrapServers() + " can be reached; check that one runs there");
    }

    /** Closes every connection; calls on them fail. On the loop. */
    public void close() {
        closed = true;
        if (ticks != null) {
            ticks.cancel(false);
        }
        metadata.close(new ClientClosedException("the client was closed"));
        for (BrokerConnection connection : List.copyOf(connections.values())) {
            connection.closeForGood();
        }
    }

    private List<Integer> candidates() {
        List<Integer> nodes = new ArrayList<>(metadata.view().brokers().keySet());
        for (int i = 0; i < config.bootstrapServers().size(); i++) {
            // Once the brokers are known the bootstrap addresses are the last resort.
            nodes.add(-1 - i);
        }
        return nodes;
    }

    private HostAndPort addressOf(int nodeId) {
        if (nodeId < 0 && nodeId >= -config.bootstrapServers().size()) {
            return config.bootstrapServers().get(-1 - nodeId);
        }
        int brokerId = nodeId < 0 ? nodeId - FIRST_SECOND_CONNECTION : nodeId;
        return metadata.view().brokers().get(brokerId);
    }

    private long pauseNanos(int nodeId) {
        Failures failed = failures.get(nodeId);
        return failed == null ? 0 : failed.retryAtNanos - System.nanoTime();
    }

    private void tick() {
        long nowNanos = System.nanoTime();
        for (BrokerConnection connection : List.copyOf(connections.values())) {
            connection.checkTimeouts(nowNanos);
        }
        metadata.onTick(nowNanos);
        listener.onTick(nowNanos);
    }

    private final class ConnectionListener implements BrokerConnection.Listener {
        @Override
        public void onReady(BrokerConnection connection) {
            failures.remove(connection.nodeId());
            lastFailure = null;
            listener.onConnectionReady(connection);
        }

        @Override
        public void onClosed(BrokerConnection connection, JournalQException cause) {
            connections.remove(connection.nodeId(), connection);
            Failures failed = failures.computeIfAbsent(connection.nodeId(), id -> new Failures());
            failed.count++;
            failed.last = cause;
            lastFailure = cause;
            failed.retryAtNanos = System.nanoTime()
                    + TimeUnit.MILLISECONDS.toNanos(config.reconnectBackoff().delayMs(failed.count));
            nextNode++;
            metadata.requestUpdate();
            listener.onConnectionClosed(connection);
        }

        @Override
        public void onWritable(BrokerConnection connection) {
            listener.onConnectionReady(connection);
        }
    }
}
