package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.api.RequestDispatcher;
import io.journalq.server.api.admin.BrokerIdentity;
import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.folder.DataLocks;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.ReserveFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.network.Acceptor;
import io.journalq.server.network.AdmissionLimits;
import io.journalq.server.network.ConnectionLimits;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.observe.AdminListener;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.observe.Health;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.shard.OfflinePartitions;
import io.journalq.server.shard.coordinator.CoordinatorCounters;
import io.journalq.server.store.CoordinatorSlices;
import io.journalq.server.store.CoordinatorStore;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker, from its configuration to its close. Starting opens everything in order: data folders, metadata log,
 * controller, partitions, listeners; closing goes the other way, so that no answer is promised that is not kept. Any
 * thread may close it.
 */
public final class Broker implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Broker.class);

    private static final String COORDINATORS_DIRECTORY = "coordinators";
    private static final long POOL_DRAIN_MS = 10_000;
    private static final int NO_PORT = -1;

    private final BrokerConfig config;
    private final FileStore store;
    private final Clock clock = Clock.systemUTC();
    private final SecureRandom random = new SecureRandom();
    private final BlockingPool blockingPool = new BlockingPool("journalq-blocking");
    private final Deque<Closing> closings = new ArrayDeque<>();
    private final NetworkCounters networkCounters = new NetworkCounters();
    private final BrokerMetrics metrics = new BrokerMetrics();
    private volatile List<ListenerAddress> listeners = List.of();
    private volatile int adminPort = NO_PORT;
    private volatile boolean serving;
    /** Null until there are shards. */
    private volatile OfflinePartitions offlinePartitions;

    /** A step of the way down. */
    private interface Closing {
        void close() throws IOException;
    }

    private Broker(BrokerConfig config, FileStore store) {
        this.config = config;
        this.store = store;
    }

    /**
     * Starts a broker; when this returns it serves.
     *
     * @throws StartException when it cannot, with one line that says why and what to do; nothing is left open
     */
    public static Broker start(BrokerConfig config) throws StartException {
        return start(config, new SystemFileStore());
    }

    /**
     * Starts a broker that keeps everything in memory, and nothing once it is closed. The data folders of its
     * configuration are names only: nothing is made there.
     *
     * @throws StartException as {@link #start(BrokerConfig)}
     */
    public static Broker startInMemory(BrokerConfig config) throws StartException {
        return start(config, new MemoryFileStore());
    }

    /** Starts a broker on files of another kind. */
    static Broker start(BrokerConfig config, FileStore store) throws StartException {
        Broker broker = new Broker(config, store);
        try {
            broker.open();
            return broker;
        } catch (IOException failure) {
            broker.close();
            throw new StartException(failure.getMessage(), failure);
        } catch (StartException | RuntimeException failure) {
            broker.close();
            throw failure;
        }
    }

    /** The listeners with the ports that they were given. */
    public List<ListenerAddress> listeners() {
        return listeners;
    }

    /** Where a client on this machine finds the first listener: {@code host:port}. */
    public String bootstrapServers() {
        return listeners().get(0).reachableHere();
    }

    /** The port that metrics and health are served on; -1 when they are not. */
    public int adminPort() {
        return adminPort;
    }

    private String adminAddress() {
        return config.adminListener()
                .map(wanted -> wanted.withPort(adminPort).reachableHere())
                .orElse(null);
    }

    /** What is counted of its connections. */
    NetworkCounters network() {
        return networkCounters;
    }

    /** Stops to accept, answers what is under way, and closes every journal cleanly. */
    @Override
    public synchronized void close() {
        while (!closings.isEmpty()) {
            try {
                closings.pop().close();
            } catch (IOException | RuntimeException failure) {
                log.error("cannot close cleanly", failure);
            }
        }
    }

    private synchronized void open() throws IOException, StartException {
        long startNanos = System.nanoTime();
        closings.push(metrics::close);
        DataLocks locks = DataLocks.acquire(store instanceof MemoryFileStore ? List.of() : config.dataDirectories());
        closings.push(locks::close);
        closings.push(() -> blockingPool.drain(POOL_DRAIN_MS));
        EventLoops loops = new EventLoops(config.get(BrokerSettings.SHARDS));
        closings.push(loops::close);
        metrics.bindLoops(loops.cycles());
        metrics.bindNetwork(networkCounters);
        metrics.bindAllocator("pooled", PooledByteBufAllocator.DEFAULT.metric());
        openAdminListener();
        ReserveFileStore reserved =
                new ReserveFileStore(store, config.dataDirectories().get(0).resolve(BrokerCore.METADATA_DIRECTORY));
        BrokerCore core = BrokerCore.open(
                config,
                new BrokerCore.Surroundings(
                        reserved,
                        loops.cycles(),
                        blockingPool,
                        Controller.newThread(),
                        clock,
                        this::newId,
                        CompletableFuture::join),
                openCoordinatorStore());
        closings.push(core::close);
        Compaction.bind(core.cleanerCounters(), clock, metrics);
        metrics.counter(
                "journalq.coordinators.replayed.records",
                "Records of journals that coordinators read when they were loaded, as they were not stored.",
                () -> core.coordinatorCounters().stream()
                        .mapToLong(CoordinatorCounters::replayedRecords)
                        .sum());
        metrics.counter(
                "journalq.coordinators.stored.records",
                "Changed records of coordinators that were stored.",
                () -> core.coordinatorCounters().stream()
                        .mapToLong(CoordinatorCounters::storedRecords)
                        .sum());
        offlinePartitions = core.shards().offlinePartitions();
        metrics.gauge(
                "journalq.partitions.offline",
                "Partitions that are not served, as their files cannot be used.",
                () -> core.shards().offlinePartitions().count());
        metrics.gauge(
                "journalq.transactions.hanging",
                "Transactions open in partitions for longer than transaction.max.timeout.ms.",
                core.shards()::hangingTransactions);
        bindTelemetry(core.telemetry());
        if (!(store instanceof MemoryFileStore)) {
            reserved.fill();
        }
        serve(loops, core);
        serving = true;
        locks.announce(bootstrapServers(), adminAddress());
        log.info(
                "broker started: node={} listeners={} shards={} partitions={} tookMs={}",
                config.get(BrokerSettings.NODE_ID),
                listeners,
                loops.count(),
                core.shards().partitionCount(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    }

    private void bindTelemetry(Telemetry telemetry) {
        metrics.gauge(
                "journalq.client.telemetry.clients",
                "Clients that asked which metrics they are to send.",
                telemetry::clientCount);
        metrics.counter(
                "journalq.client.telemetry.pushes",
                "Times that clients sent metrics which were taken.",
                telemetry::received);
        metrics.counter(
                "journalq.client.telemetry.bytes", "Size of these metrics, as they came.", telemetry::receivedBytes);
        metrics.counter(
                "journalq.client.telemetry.refused",
                "Requests about clients' metrics that got an error.",
                telemetry::refused);
    }

    private CoordinatorSlices openCoordinatorStore() {
        if (store instanceof MemoryFileStore) {
            return CoordinatorSlices.NONE;
        }
        CoordinatorStore coordinators =
                new CoordinatorStore(config.dataDirectories().get(0).resolve(COORDINATORS_DIRECTORY));
        closings.push(coordinators::close);
        return coordinators;
    }

    private void openAdminListener() throws IOException {
        Optional<ListenerAddress> wanted = config.adminListener();
        if (wanted.isPresent()) {
            AdminListener admin =
                    AdminListener.start(wanted.get().host(), wanted.get().port(), metrics.registry(), this::health);
            closings.push(admin::close);
            adminPort = admin.port();
        }
    }

    private Health health() {
        OfflinePartitions offline = offlinePartitions;
        return offline == null
                ? new Health(serving, 0, List.of())
                : new Health(serving, offline.count(), offline.names(Health.MAX_NAMES));
    }

    private Uuid newId() {
        return new Uuid(random.nextLong(), random.nextLong());
    }

    private void serve(EventLoops loops, BrokerCore core) throws IOException {
        Acceptor acceptor = new Acceptor(
                loops,
                connectionLimits(loops.count()),
                new RequestDispatcher(
                        core.handlers(),
                        new ClientThrottles(core::quotas, System::nanoTime),
                        config.get(BrokerSettings.REQUEST_MAX_ENTRIES)),
                networkCounters);
        closings.push(() -> {
            serving = false;
            log.info("broker stops: listeners={}", listeners);
            core.stopWaiting();
            acceptor.close(config.get(BrokerSettings.SHUTDOWN_TIMEOUT_MS));
        });
        List<ListenerAddress> bound = new ArrayList<>();
        for (ListenerAddress wanted : config.listeners()) {
            bound.add(wanted.withPort(acceptor.bind(wanted.name(), wanted.host(), wanted.port())));
        }
        listeners = List.copyOf(bound);
        List<ListenerAddress> advertised =
                config.advertisedListeners().isEmpty() ? listeners : config.advertisedListeners();
        core.describe(
                new BrokerIdentity(config.get(BrokerSettings.NODE_ID), advertised),
                new DiskUsage(config.dataDirectories(), core.shards(), blockingPool));
        acceptor.accept();
    }

    private ConnectionLimits connectionLimits(int loopCount) {
        return new ConnectionLimits(
                config.get(BrokerSettings.SOCKET_REQUEST_MAX_BYTES),
                config.get(BrokerSettings.QUEUED_MAX_REQUESTS),
                config.get(BrokerSettings.CONNECTION_IN_FLIGHT_MAX_BYTES),
                Math.max(1, config.get(BrokerSettings.TOTAL_IN_FLIGHT_MAX_BYTES) / loopCount),
                new AdmissionLimits(
                        config.get(BrokerSettings.MAX_CONNECTIONS),
                        config.get(BrokerSettings.MAX_CONNECTIONS_PER_IP),
                        config.get(BrokerSettings.CONNECTIONS_MAX_IDLE_MS)));
    }
}
