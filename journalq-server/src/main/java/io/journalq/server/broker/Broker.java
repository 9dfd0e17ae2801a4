package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RequestDispatcher;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.SecuritySettings;
import io.journalq.server.control.Controller;
import io.journalq.server.directory.DataLocks;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.ReserveFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.network.Acceptor;
import io.journalq.server.network.ConnectionLimits;
import io.journalq.server.network.Door;
import io.journalq.server.network.Exchange;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.observe.AdminAccess;
import io.journalq.server.observe.Health;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.shard.DiskUsage;
import io.journalq.server.shard.OfflinePartitions;
import io.journalq.server.store.CoordinatorSlice;
import io.journalq.server.store.CoordinatorStore;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker, from its configuration to its close. The start opens everything in order: data directories, metadata log,
 * controller, partitions, listeners. The close goes in the opposite order, so that every acknowledged request gets its
 * response. Any thread may close the broker.
 */
public final class Broker implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Broker.class);

    private static final String COORDINATORS_DIRECTORY = "coordinators";
    private static final long POOL_DRAIN_MS = 10_000;
    private static final int NO_PORT = -1;

    private final BrokerConfig config;
    private final FileStore store;
    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    private final BlockingPool blockingPool = new BlockingPool("journalq-blocking");
    private final Deque<Closing> closings = new ArrayDeque<>();
    private final StartWaiter startWaiter = new StartWaiter();
    private final MemoryBudget stateMemory;
    private final NetworkCounters networkCounters = new NetworkCounters();
    private volatile List<ListenerAddress> listeners = List.of();
    private volatile int adminPort = NO_PORT;
    private volatile int gatewayPort = NO_PORT;
    private volatile boolean serving;
    /** Whether it was told to stop, perhaps before its start began. Guarded by this. */
    private boolean closed;

    /** Null until it is open. */
    private volatile BrokerCore core;

    /** One step of the close. */
    private interface Closing {
        void close() throws IOException;
    }

    /** Waits for steps of the start, which can depend on other brokers. A close ends the wait, and so the start. */
    static final class StartWaiter implements FutureWaiter {
        /** The thread that starts the broker. Others wait for their own work, which a close ends in order. */
        private final Thread starter = Thread.currentThread();

        private final CompletableFuture<Void> stopped = new CompletableFuture<>();
        private boolean ended;

        @Override
        public <T> T join(CompletableFuture<T> wanted) {
            if (Thread.currentThread() == starter && !isEnded()) {
                // A failure of the step is reported below.
                CompletableFuture.anyOf(wanted, stopped)
                        .exceptionally(failure -> null)
                        .join();
                if (!wanted.isDone()) {
                    end();
                    throw toldToStop();
                }
            }
            return wanted.join();
        }

        static CancellationException toldToStop() {
            return new CancellationException("the broker was told to stop while it started");
        }

        private synchronized boolean isEnded() {
            return ended;
        }

        /** Steps are waited for to their ends from now on. */
        synchronized void end() {
            ended = true;
        }

        synchronized void stop() {
            if (!ended) {
                stopped.complete(null);
            }
        }
    }

    private Broker(BrokerConfig config, FileStore store, Clock clock) {
        this.config = config;
        this.store = store;
        this.clock = clock;
        this.stateMemory = MemoryBudget.of(
                Runtime.getRuntime().maxMemory(),
                part -> config.get(BrokerSettings.MEMORY_MAX_BYTES.get(part.label())));
    }

    /**
     * Starts a broker. When this method returns, the broker serves clients.
     *
     * @throws StartException when it cannot start, with one line that says why and what to do; nothing is left open
     */
    public static Broker start(BrokerConfig config) throws StartException {
        return start(config, new SystemFileStore(), Clock.systemUTC());
    }

    /**
     * As {@link #start(BrokerConfig)}.
     *
     * @param beforeStart gets the broker before its start, which {@link #close} ends
     */
    public static Broker start(BrokerConfig config, Consumer<Broker> beforeStart) throws StartException {
        return start(config, new SystemFileStore(), Clock.systemUTC(), beforeStart);
    }

    /**
     * Starts a broker that keeps everything in memory, and loses it when it is closed. The data directories of its
     * configuration are only names: nothing is created there.
     *
     * @throws StartException as {@link #start(BrokerConfig)}
     */
    public static Broker startInMemory(BrokerConfig config) throws StartException {
        return start(withoutWriteAheadFiles(config), new MemoryFileStore(), Clock.systemUTC());
    }

    /** Data in memory needs no second copy. */
    private static BrokerConfig withoutWriteAheadFiles(BrokerConfig config) {
        try {
            return config.with(BrokerSettings.WRITE_AHEAD_MAX_BYTES.name(), "0", ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Starts a broker on the given file store and clock. */
    static Broker start(BrokerConfig config, FileStore store, Clock clock) throws StartException {
        return start(config, store, clock, broker -> {});
    }

    private static Broker start(BrokerConfig config, FileStore store, Clock clock, Consumer<Broker> beforeStart)
            throws StartException {
        try {
            // A configuration that was not loaded from a file has not been checked yet.
            BrokerConfigLoader.checkTogether(config);
            StartChecks.check(config);
        } catch (ConfigException contradiction) {
            throw new StartException(contradiction.getMessage(), contradiction);
        }
        Broker broker = new Broker(config, store, clock);
        beforeStart.accept(broker);
        try {
            broker.open();
            return broker;
        } catch (IOException failure) {
            broker.close();
            throw new StartException(failure.getMessage(), failure);
        } catch (CancellationException closed) {
            broker.close();
            throw new StartException(closed.getMessage(), closed);
        } catch (StartException | RuntimeException | Error failure) {
            // Also after an error, such as too little memory: the loops would keep the process running.
            broker.close();
            throw failure;
        }
    }

    /** The listeners, with the ports that they are bound to. */
    public List<ListenerAddress> listeners() {
        return listeners;
    }

    /** The address of the first listener for a client on this machine: {@code host:port}. */
    public String bootstrapServers() {
        return listeners().get(0).reachableHere();
    }

    /** The port of metrics and health; -1 when they are not served. */
    public int adminPort() {
        return adminPort;
    }

    /** The port of the HTTP gateway; -1 when there is none. */
    public int gatewayPort() {
        return gatewayPort;
    }

    private String adminAddress(ListenerTransports transports) {
        return config.adminListener()
                .map(wanted -> (transports.isAdminEncrypted() ? "https://" : "")
                        + wanted.withPort(adminPort).reachableHere())
                .orElse(null);
    }

    /** The counters of the network layer. */
    NetworkCounters network() {
        return networkCounters;
    }

    /** The APIs that the broker serves. */
    HandlerRegistry handlers() {
        return core.handlers();
    }

    /** The heap budget of the broker's state. */
    MemoryBudget stateMemory() {
        return stateMemory;
    }

    /**
     * Lets other brokers of a cluster take over, stops accepting connections, responds to the requests in progress, and
     * closes every journal cleanly. Ends a start that waits for other brokers.
     */
    @Override
    public void close() {
        startWaiter.stop();
        closeAll();
    }

    private synchronized void closeAll() {
        closed = true;
        // The start is over, also if it failed: what is closed is waited for.
        startWaiter.end();
        while (!closings.isEmpty()) {
            try {
                closings.pop().close();
            } catch (IOException | RuntimeException | Error failure) {
                // Such as a class that is missing because the files of the program were replaced.
                log.error("cannot close cleanly", failure);
            }
        }
    }

    private synchronized void open() throws IOException, StartException {
        if (closed) {
            throw StartWaiter.toldToStop();
        }
        long startNanos = System.nanoTime();
        log.info("memory for state: {}", stateMemory);
        if (store instanceof MemoryFileStore && config.quorumListener().isPresent()) {
            throw new StartException("a broker in memory cannot be part of a metadata quorum; remove quorum.listener");
        }
        DataLocks locks = DataLocks.acquire(store instanceof MemoryFileStore ? List.of() : config.dataDirectories());
        closings.push(locks::close);
        closings.push(() -> blockingPool.drain(POOL_DRAIN_MS));
        ListenerTransports transports = ListenerTransports.open(config, networkCounters);
        closings.push(transports::close);
        ListenerLogins logins = ListenerLogins.open(config, this::users, random);
        closings.push(logins::close);
        GatewaySetup gateway = config.gatewayListener().isEmpty()
                ? null
                : GatewaySetup.of(config, config.gatewayListener().get(), transports);
        if (config.quorumListener().isPresent()) {
            requireFreeAddresses(gateway);
        }
        int processors = Runtime.getRuntime().availableProcessors();
        EventLoops loops = new EventLoops(EventLoops.countFor(config.get(BrokerSettings.SHARDS), processors));
        closings.push(loops::close);
        DirectMemory directMemory = DirectMemory.of(config);
        SharedMemory memory = SharedMemory.of(directMemory.largeRequestBytes(), directMemory.responseBytes());
        Optional<AdminPages> pages = openAdminPages(loops, memory, transports, logins);
        ReserveFileStore reserved = new ReserveFileStore(
                store, config.dataDirectories().get(0).resolve(MetadataLogOpener.METADATA_DIRECTORY));
        PeerChannels peers = openPeers(transports.peers());
        BrokerCore opened = BrokerCore.open(
                config,
                new BrokerEnvironment(
                        reserved,
                        loops.cycles(),
                        blockingPool,
                        Controller.newThread(),
                        stateMemory,
                        clock,
                        this::newId,
                        startWaiter,
                        peers,
                        trust(transports)),
                openCoordinatorStore());
        closings.push(opened::close);
        core = opened;
        pages.ifPresent(shown -> shown.show(opened));
        if (gateway != null) {
            pages.ifPresent(shown -> shown.show(gateway));
        }
        if (!(store instanceof MemoryFileStore)) {
            reserved.fill();
        }
        serve(
                loops,
                opened,
                directMemory.smallRequestBytes() / (2L * loops.count()),
                memory,
                transports,
                logins,
                gateway);
        serving = true;
        String open = openAddresses(transports);
        locks.announce(bootstrapServers(), open, adminAddress(transports));
        log.info(
                "broker started: node={} listeners={}{} shards={} partitions={} tookMs={}",
                config.get(BrokerSettings.NODE_ID),
                listeners,
                gatewayPort == NO_PORT ? "" : " gatewayPort=" + gatewayPort,
                loops.count(),
                opened.shards().partitions().partitionCount(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
        if (config.get(BrokerSettings.SHARDS) > loops.count()) {
            log.warn(
                    "fewer event loops than set, because they would share processors: shards={} processors={}",
                    config.get(BrokerSettings.SHARDS),
                    processors);
        }
        if (!open.isEmpty()) {
            log.warn("open to other machines, without authentication and encryption: addresses={}", open);
        }
        listeners.stream().filter(ListenerAddress::isOpen).forEach(listener -> {
            if (transports.usesSasl(listener) && !transports.isEncrypted(listener)) {
                log.warn("open to other machines, without encryption: address={}", listener.address());
            } else if (transports.isEncrypted(listener) && !transports.areClientsAuthenticated(listener)) {
                log.warn(
                        "open to other machines, without authentication (ssl.client.auth): address={}",
                        listener.address());
            }
        });
    }

    /**
     * Checks that the listeners for clients can be bound. They are bound when the broker can serve. By then it is a voter,
     * so that the cluster could lose its quorum if the start failed.
     */
    private void requireFreeAddresses(GatewaySetup gateway) throws IOException {
        for (ListenerAddress listener : config.listeners()) {
            Acceptor.requireFree(listener.host(), listener.port());
        }
        if (gateway != null) {
            gateway.requireFree();
        }
    }

    private static BrokerEnvironment.PeerTrust trust(ListenerTransports transports) {
        PeerIdentity peers = transports.peers();
        PeerIdentity quorum = transports.quorum();
        return new BrokerEnvironment.PeerTrust(
                peers == null ? client -> true : peers::isBroker, quorum == null ? null : quorum.forQuorum());
    }

    /**
     * Null for a broker that is alone.
     *
     * @param identity null if the connections are not encrypted
     */
    private PeerChannels openPeers(PeerIdentity identity) {
        if (config.quorumListener().isEmpty()) {
            return null;
        }
        PeerChannels peers = new NettyPeerChannels("broker-" + config.get(BrokerSettings.NODE_ID), identity);
        closings.push(peers::close);
        return peers;
    }

    private String openAddresses(ListenerTransports transports) {
        List<String> open = new ArrayList<>();
        listeners.stream()
                .filter(listener ->
                        !transports.isEncrypted(listener) && !transports.usesSasl(listener) && listener.isOpen())
                .forEach(listener -> open.add(listener.address()));
        config.adminListener()
                .filter(listener -> !transports.isAdminEncrypted()
                        && listener.isOpen()
                        && config.get(SecuritySettings.ALLOW_INSECURE_LISTENERS))
                .ifPresent(listener -> open.add(listener.withPort(adminPort).address()));
        config.quorumListener()
                .filter(listener -> transports.quorum() == null && listener.isOpen())
                .ifPresent(listener -> open.add(listener.address()));
        config.gatewayListener()
                .filter(listener -> !transports.isGatewayEncrypted() && listener.isOpen())
                .ifPresent(listener -> open.add(listener.withPort(gatewayPort).address()));
        return String.join(",", open);
    }

    private CoordinatorSlice.Provider openCoordinatorStore() throws IOException {
        if (store instanceof MemoryFileStore) {
            return CoordinatorSlice.Provider.NONE;
        }
        CoordinatorStore coordinators =
                new CoordinatorStore(config.dataDirectories().get(0).resolve(COORDINATORS_DIRECTORY));
        closings.push(coordinators::close);
        coordinators.checkFormat();
        if (coordinators.exists()) {
            // Loading RocksDB's native library takes a while, so it is done while other parts are opened.
            blockingPool.execute(coordinators::open);
        }
        return coordinators;
    }

    private Optional<AdminPages> openAdminPages(
            EventLoops loops, SharedMemory memory, ListenerTransports transports, ListenerLogins logins)
            throws IOException {
        if (config.adminListener().isEmpty()) {
            return Optional.empty();
        }
        AdminAccess access = AdminLogins.accessOf(config, transports, logins, this::audit, memory, networkCounters);
        AdminPages pages = AdminPages.open(config, loops, networkCounters, memory, stateMemory, this::health, access);
        closings.push(pages::close);
        adminPort = pages.port();
        return Optional.of(pages);
    }

    private Health health() {
        BrokerCore open = core;
        if (open == null) {
            return new Health(serving, 0, List.of(), Map.of());
        }
        // The directories first: the partitions of a directory are offline before it is listed.
        Map<String, String> directories = new TreeMap<>();
        open.directoryWatch().lost().forEach((path, reason) -> directories.put(path.toString(), reason));
        OfflinePartitions partitions = open.shards().offlinePartitions();
        return new Health(
                serving && !open.directoryWatch().isAllLost(),
                partitions.count(),
                partitions.names(Health.MAX_NAMES),
                directories);
    }

    /** The users that can log in; none while the metadata is being read. */
    private ScramImage users() {
        BrokerCore open = core;
        return open == null ? ScramImage.NONE : open.scram();
    }

    /** Receives refused logins; nothing while the metadata is being read. */
    private AuditLog audit() {
        BrokerCore open = core;
        return open == null ? AuditLog.OFF : open.handlers().authorizer().audit();
    }

    private Uuid newId() {
        return Uuid.random(random);
    }

    /** @param gateway null when there is none */
    private void serve(
            EventLoops loops,
            BrokerCore opened,
            long loopRequestBytes,
            SharedMemory memory,
            ListenerTransports transports,
            ListenerLogins logins,
            GatewaySetup gateway)
            throws IOException {
        ClientThrottles throttles = new ClientThrottles(opened::quotas, System::nanoTime);
        Acceptor acceptor =
                new Acceptor(loops, connectionLimits(loopRequestBytes), memory, networkCounters, throttles::admits);
        Exchange.Factory exchanges = new RequestDispatcher(
                opened.handlers(),
                throttles,
                config.get(BrokerSettings.REQUEST_MAX_ENTRIES),
                stateMemory.part(StatePart.CONNECTIONS),
                transports.principals(),
                logins.rules());
        closings.push(() -> {
            serving = false;
            log.info("broker stopping: listeners={}", listeners);
            opened.stopWaiting();
            acceptor.close(config.get(BrokerSettings.SHUTDOWN_TIMEOUT_MS));
        });
        List<ListenerAddress> bound = new ArrayList<>();
        for (ListenerAddress wanted : config.listeners()) {
            Door door = logins.doorOf(wanted, exchanges, transports.of(wanted));
            bound.add(wanted.withPort(acceptor.bind(door, wanted.name(), wanted.host(), wanted.port())));
        }
        listeners = List.copyOf(bound);
        DiskUsage directories = new DiskUsage(config.dataDirectories(), opened.shards(), blockingPool);
        if (gateway != null) {
            gatewayPort = gateway.bind(
                    acceptor,
                    opened,
                    new LocalBrokerView.Parts(
                            config.get(BrokerSettings.NODE_ID),
                            loops.cycles(),
                            networkCounters,
                            this::health,
                            directories,
                            store instanceof SystemFileStore system ? system.syncTimes() : null,
                            blockingPool,
                            clock::millis),
                    throttles,
                    logins.gateway(this::audit),
                    stateMemory.part(StatePart.CONNECTIONS));
            closings.push(gateway::stop);
        }
        opened.describe(config.advertisedFor(listeners), directories);
        acceptor.accept();
        closings.push(() -> {
            serving = false;
            opened.handOver();
        });
        opened.awaitServing();
        startWaiter.end();
    }

    private ConnectionLimits connectionLimits(long loopRequestBytes) {
        return new ConnectionLimits(
                config.get(BrokerSettings.SOCKET_REQUEST_MAX_BYTES),
                config.get(BrokerSettings.QUEUED_MAX_REQUESTS),
                config.get(BrokerSettings.CONNECTION_IN_FLIGHT_MAX_BYTES),
                Math.max(1, loopRequestBytes),
                new ConnectionLimits.Admission(
                        RequestDispatcher.maxConnections(
                                OpenFileLimit.connections(config.get(BrokerSettings.MAX_CONNECTIONS)),
                                stateMemory.part(StatePart.CONNECTIONS).maxBytes()),
                        config.get(BrokerSettings.MAX_CONNECTIONS_PER_IP),
                        config.get(BrokerSettings.MAX_CONNECTION_CREATION_RATE),
                        config.get(BrokerSettings.CONNECTIONS_MAX_IDLE_MS)));
    }
}
