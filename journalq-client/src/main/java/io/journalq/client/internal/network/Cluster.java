package io.journalq.client.internal.network;

import io.journalq.client.error.AuthenticationFailedException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.TlsFailedException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The connections of a client, one per broker, and the {@link Metadata} of the cluster. Opens a connection when a call
 * needs it, reconnects with backoff, and closes connections whose calls time out. Belongs to the event loop of the
 * client; any thread may read the view of {@link #metadata()}.
 */
public final class Cluster {
    private static final int TICK_MS = 100;
    /** The node ids of second connections start here. Bootstrap addresses count down from -1. */
    private static final int FIRST_SECOND_CONNECTION = Integer.MIN_VALUE + 1;

    /** Is notified on the event loop. */
    public interface Listener {
        /** The metadata has changed. */
        default void onView(ClusterView view) {}

        /** A connection accepts calls: it has become ready, or its outbound buffer has room again. */
        default void onConnectionReady(BrokerConnection connection) {}

        /** A connection has been closed. The next call to the broker opens a new one. */
        default void onConnectionClosed(BrokerConnection connection) {}

        /** Called every {@value Cluster#TICK_MS} ms. */
        default void onTick(long nowNanos) {}
    }

    private final ClientConfig config;
    private final EventLoop eventLoop;
    private final Listener listener;
    private final Metadata metadata;
    private final Map<Integer, BrokerConnection> connections = new HashMap<>();
    private final Map<Integer, BrokerFailures> failures = new HashMap<>();
    private final BrokerConnection.Listener connectionListener = new ConnectionListener();
    private final FailureLog failureLog;
    private final BlockingWaits waits = new BlockingWaits();
    /**
     * Tasks that wait for their time. They run at once when the client closes, so that nothing waits for them forever.
     */
    private final Set<Later> scheduled = new LinkedHashSet<>();

    private ScheduledFuture<?> ticks;
    private boolean closed;
    /** Whether a connection has ever been ready. */
    private boolean everReady;

    private int nextNode;
    private volatile JournalQException lastFailure;

    /** The failures of a broker since its last ready connection. */
    private static final class BrokerFailures {
        private int count;
        /** Whether the last connection broke before it was ready. A broker may close one that was not used for long. */
        private boolean unreachable;

        private long retryAtNanos;
        private JournalQException last;
    }

    public Cluster(ClientConfig config, EventLoop eventLoop, Listener listener) {
        this.config = config;
        this.eventLoop = eventLoop;
        this.listener = listener;
        this.failureLog = new FailureLog(config);
        this.metadata = new Metadata(this, config, listener);
    }

    /** Starts the periodic tick. Any thread, once. */
    public void start() {
        ticks = repeat(this::tick, TICK_MS);
    }

    /**
     * Runs a task on the event loop again and again. A failure, such as a lack of memory, can pass, but would end the
     * repetition for good. Without it, no call would time out, and nothing would be tried again.
     */
    public ScheduledFuture<?> repeat(Runnable task, long intervalMs) {
        return eventLoop.scheduleAtFixedRate(
                () -> {
                    try {
                        task.run();
                    } catch (RuntimeException | Error e) {
                        System.getLogger(config.api().getName())
                                .log(System.Logger.Level.WARNING, "a periodic task of the client failed: " + e, e);
                    }
                },
                intervalMs,
                intervalMs,
                TimeUnit.MILLISECONDS);
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

    /** Where failures are counted and logged. Any thread. */
    public FailureLog failureLog() {
        return failureLog;
    }

    /** Where threads of the application wait. Any thread except the event loop. */
    public BlockingWaits waits() {
        return waits;
    }

    /**
     * Runs a task on the event loop. Any thread.
     *
     * @throws ClientClosedException if the client is closed
     */
    public void execute(Runnable task) {
        try {
            eventLoop.execute(task);
        } catch (RejectedExecutionException e) {
            throw closedClient(e);
        }
    }

    /**
     * Runs a task on the event loop and waits for it. Any thread except the event loop.
     *
     * @throws ClientClosedException if the client is closed
     */
    public void executeAndWait(Runnable task) {
        try {
            eventLoop.submit(task).syncUninterruptibly();
        } catch (RejectedExecutionException e) {
            throw closedClient(e);
        }
    }

    /** Runs a task on the event loop after a delay, or when the client closes. */
    public void executeLater(Runnable task, long delayNanos) {
        if (closed) {
            execute(task);
            return;
        }
        Later later = new Later(task);
        scheduled.add(later);
        later.timer = eventLoop.schedule(later, delayNanos, TimeUnit.NANOSECONDS);
    }

    /** Returns the exception for a call of a client that is closed. */
    public static ClientClosedException closedClient() {
        return closedClient(null);
    }

    private static ClientClosedException closedClient(Throwable cause) {
        return new ClientClosedException("the client is closed; build another one", cause);
    }

    /** A task that waits for its time. */
    private final class Later implements Runnable {
        private final Runnable task;
        private ScheduledFuture<?> timer;

        private Later(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (scheduled.remove(this)) {
                timer.cancel(false);
                task.run();
            }
        }
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * Returns the connection to a broker, which may still be opening. Returns null if its address is unknown, or during
     * the backoff after a failure.
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
     * Returns the node id of a second connection to a broker. It serves requests that must not wait behind a parked
     * fetch on the first connection, because responses arrive in order.
     */
    public static int secondConnection(int nodeId) {
        return FIRST_SECOND_CONNECTION + nodeId;
    }

    /** Returns the last failure of a broker, or null if it is not known to be unreachable. */
    public JournalQException lastFailure(int nodeId) {
        BrokerFailures failed = failures.get(nodeId);
        return failed == null ? null : failed.last;
    }

    /** Returns a connection to any broker, preferably a ready one, or null if no broker can be tried now. */
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

    /** Returns the exception for the case that no broker can be reached. Any thread. */
    public JournalQException noBroker() {
        JournalQException last = lastFailure;
        return last != null
                ? last
                : new ConnectionFailedException("no broker of " + config.bootstrapServers()
                        + " can be reached; check that a broker is running there");
    }

    /** Closes all connections. Their calls fail. On the event loop. */
    public void close() {
        closed = true;
        if (ticks != null) {
            ticks.cancel(false);
        }
        metadata.close(new ClientClosedException("the client was closed during this call"));
        for (BrokerConnection connection : List.copyOf(connections.values())) {
            connection.closeForGood();
        }
        List.copyOf(scheduled).forEach(Later::run);
        waits.endAll();
    }

    /**
     * Closes the connections to brokers that have other addresses now. At an old address, another broker can respond,
     * which would refuse everything and never close the connection.
     */
    void leaveOldAddresses() {
        for (BrokerConnection connection : List.copyOf(connections.values())) {
            HostAndPort address = addressOf(connection.nodeId());
            if (address != null && !address.equals(connection.address())) {
                connection.close(new ConnectionFailedException(
                        "the broker at " + connection.address() + " has the address " + address + " now"));
            }
        }
    }

    private List<Integer> candidates() {
        List<Integer> nodes = new ArrayList<>(metadata.view().brokers().keySet());
        for (int i = 0; i < config.bootstrapServers().size(); i++) {
            // When the brokers are known, the bootstrap addresses are tried last.
            nodes.add(-1 - i);
        }
        return nodes;
    }

    /** Whether the last attempts to connect to every known broker and bootstrap address have failed. */
    private boolean isNoneReachable() {
        for (BrokerConnection connection : connections.values()) {
            if (connection.isReady()) {
                return false;
            }
        }
        for (int node : candidates()) {
            BrokerFailures failed = failures.get(node);
            if (failed == null || !failed.unreachable) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether TLS or the login has failed with every broker since the client was built. Then its configuration is
     * wrong, and its calls fail at once. If they have worked before, an operator may be about to replace certificates
     * or passwords, so calls are retried.
     */
    private boolean isHopeless(JournalQException cause) {
        return !everReady && isConfigurationFailure(cause.getCause()) && isNoneReachable();
    }

    /** Whether a failure is one of TLS or of the login that another attempt does not change. */
    static boolean isConfigurationFailure(Throwable failure) {
        return failure instanceof TlsFailedException || failure instanceof AuthenticationFailedException;
    }

    private HostAndPort addressOf(int nodeId) {
        if (nodeId < 0 && nodeId >= -config.bootstrapServers().size()) {
            return config.bootstrapServers().get(-1 - nodeId);
        }
        int brokerId = nodeId < 0 ? nodeId - FIRST_SECOND_CONNECTION : nodeId;
        return metadata.view().brokers().get(brokerId);
    }

    private long pauseNanos(int nodeId) {
        BrokerFailures failed = failures.get(nodeId);
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
            everReady = true;
            lastFailure = null;
            listener.onConnectionReady(connection);
        }

        @Override
        public JournalQException onClosing(BrokerConnection connection, JournalQException cause) {
            connections.remove(connection.nodeId(), connection);
            BrokerFailures failed = failures.computeIfAbsent(connection.nodeId(), id -> new BrokerFailures());
            failed.count++;
            failed.unreachable = !connection.wasReady();
            failed.last = cause;
            failed.retryAtNanos = System.nanoTime()
                    + TimeUnit.MILLISECONDS.toNanos(config.reconnectBackoff().delayMs(failed.count));
            nextNode++;
            lastFailure = isHopeless(cause) ? (JournalQException) cause.getCause() : cause;
            return lastFailure;
        }

        @Override
        public void onClosed(BrokerConnection connection, JournalQException failure) {
            if (!connection.wasReady() && isNoneReachable()) {
                failureLog.report(
                        FailureLog.Cause.NO_BROKER, config.bootstrapServers().toString(), failure);
            }
            if (isConfigurationFailure(failure)) {
                metadata.failWaiters(failure);
            }
            metadata.requestUpdate();
            listener.onConnectionClosed(connection);
        }

        @Override
        public void onWritable(BrokerConnection connection) {
            listener.onConnectionReady(connection);
        }
    }
}
