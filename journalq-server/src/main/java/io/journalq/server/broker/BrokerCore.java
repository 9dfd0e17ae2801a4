package io.journalq.server.broker;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCalls;
import io.journalq.server.api.admin.OfflineReplicas;
import io.journalq.server.api.data.FetchHandler;
import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.config.AccessSettings;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ReplicationSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.control.QuorumTls;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.directory.DirectoryWatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.Authorizer;
import io.journalq.server.security.Principal;
import io.journalq.server.shard.LogDirectories;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.compaction.LogCleaner.CleanerSurroundings;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.group.GroupLags;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
import io.journalq.server.shard.healing.HealingCounters;
import io.journalq.server.shard.healing.ReplicaHealer;
import io.journalq.server.shard.healing.Scrubber;
import io.journalq.server.shard.metadata.MetadataApplier;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.RecoveredEnd;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.server.store.CoordinatorSlice;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A broker without sockets: metadata, partitions, coordinators, and the handlers of all APIs. Everything that could
 * make two runs differ is passed in. A simulation can therefore run the same code in one thread, on its own files and
 * time.
 *
 * <p>Opened and closed by one thread, which may block. Handlers are called on the loops.
 */
public final class BrokerCore implements AutoCloseable {
    /** Longest time for which a broker that stops waits for its in-sync followers. One that is stuck leaves them sooner. */
    private static final int HAND_OVER_MS = 5_000;

    private final BrokerConfig config;
    private final Environment environment;
    private final MetadataPublisher metadata;
    private final RemovedTopics removedTopics = new RemovedTopics();
    private final ClusterSetup cluster;
    private final DataDirectories directories;
    private final ShutdownMarkers markers;
    private final ControllerOpener opener;
    private final Controller controller;
    /** Whether brokers elect the controller. */
    private final boolean inCluster;

    private final BrokerLifecycle lifecycle;
    /** Null for a broker that is alone. */
    private final BrokerSupervisor supervisor;

    private final Shards shards;
    private final GroupCoordinators groups;
    private final GroupLags groupLags;
    private final TransactionCoordinators transactions;
    private final HandlerTable handlers;
    private final FetchHandler fetch;
    private final Telemetry telemetry;
    private final LogCleaner cleaner;
    private final ReplicaHealer healer;
    private final Scrubber scrubber;
    /** Whether clients may have been served. */
    private boolean served;

    private final DirectoryWatch watch;

    /**
     * Everything that a broker depends on.
     *
     * @param store its files
     * @param cycles its event loops, one for each shard
     * @param blockingPool runs operations that may block
     * @param controllerThread runs metadata changes one after the other; shut down when the core is closed
     * @param memory the heap budget of its state
     * @param clock the time of day
     * @param ids supplies ids that are unique and cannot be guessed
     * @param waiting how a thread waits for a future
     * @param peers requests to other brokers; null if the broker is alone
     * @param trust who the other brokers are
     */
    public record Environment(
            FileStore store,
            List<LoopCycle> cycles,
            Executor blockingPool,
            ExecutorService controllerThread,
            MemoryBudget memory,
            Clock clock,
            Supplier<Uuid> ids,
            FutureWaiter waiting,
            PeerChannels peers,
            PeerTrust trust) {
        /** Without certificates of brokers. */
        public Environment(
                FileStore store,
                List<LoopCycle> cycles,
                Executor blockingPool,
                ExecutorService controllerThread,
                MemoryBudget memory,
                Clock clock,
                Supplier<Uuid> ids,
                FutureWaiter waiting,
                PeerChannels peers) {
            this(store, cycles, blockingPool, controllerThread, memory, clock, ids, waiting, peers, PeerTrust.ALL);
        }
    }

    /**
     * How a broker knows that others are brokers.
     *
     * @param brokers whether a client of the listener for brokers is one
     * @param quorum keys and trust of the voters; null if their connections are not encrypted
     */
    public record PeerTrust(Predicate<Principal> brokers, QuorumTls quorum) {
        /** Without certificates, so that who may connect decides. */
        public static final PeerTrust ALL = new PeerTrust(client -> true, null);
    }

    /**
     * What connects a broker to the other brokers of its cluster.
     *
     * @param log elects the controller
     * @param controllers the controllers of the other brokers
     */
    public record Membership(MetadataLog log, PeerControllers controllers) {}

    /** @param onController receives the controller when it has started, to be closed if the rest fails */
    private BrokerCore(
            BrokerConfig config,
            Environment environment,
            CoordinatorSlice.Provider slices,
            Membership membership,
            Consumer<Controller> onController)
            throws IOException {
        this.config = config;
        this.environment = environment;
        this.metadata = new MetadataPublisher(environment.blockingPool());
        metadata.addListener(removedTopics);
        this.cluster = new ClusterSetup(
                config,
                metadata::current,
                environment.peers(),
                environment.cycles().get(0));
        this.directories = MetadataLogOpener.openDirectories(environment.store(), config);
        this.markers = new ShutdownMarkers(environment.store(), config.dataDirectories(), directories::hasPartitions);
        this.opener = new ControllerOpener(
                config,
                new ControllerOpener.Environment(
                        environment.store(),
                        environment.blockingPool(),
                        environment.controllerThread(),
                        environment.memory(),
                        environment.clock(),
                        environment.ids(),
                        environment.cycles().get(0).loop()::nanoTime,
                        environment.waiting()),
                directories);
        opener.recoverFiles();
        Membership member = membership != null
                ? membership
                : new Membership(
                        opener.openLog(
                                cluster.join(environment.waiting()),
                                environment.trust().quorum()),
                        cluster.remoteControllers());
        this.inCluster = member.log().electsLeader();
        this.controller = opener.start(member.log(), metadata, cluster.replicaEnds());
        onController.accept(controller);
        ControllerOperations activeController = inCluster ? cluster.link(controller, member.controllers()) : controller;
        this.lifecycle = new BrokerLifecycle(
                config,
                directories,
                metadata,
                activeController,
                environment.ids(),
                markers.keepsRecords(),
                inCluster
                        ? new RegistrationFile(
                                environment.store(), config.dataDirectories(), directories::hasPartitions)
                        : null);
        this.supervisor = inCluster ? supervisor(activeController) : null;
        if (inCluster) {
            joinCluster();
        }
        this.shards = new Shards(
                config,
                environment.cycles(),
                environment.store(),
                environment.blockingPool(),
                environment.clock(),
                markers.lastEnds(),
                environment.memory().part(StatePart.PRODUCERS));
        if (cluster.hasPeers()) {
            shards.join(cluster.replicaPeers(activeController));
        }
        this.cleaner = CompactionSetup.of(
                config,
                shards,
                new CleanerSurroundings(environment.blockingPool(), environment.clock(), environment.waiting()),
                environment.ids());
        this.healer = new ReplicaHealer(shards, environment.blockingPool(), environment.waiting(), cluster.requests());
        this.scrubber = new Scrubber(
                shards,
                environment.blockingPool(),
                environment.waiting(),
                healer,
                config.get(BrokerSettings.SCRUB_INTERVAL_MS),
                config.get(BrokerSettings.SCRUB_BYTES_PER_SECOND));
        this.watch = new DirectoryWatch(
                directories,
                config.dataDirectories().size(),
                config.get(ReplicationSettings.DISK_FREE_MIN_BYTES),
                environment.cycles().get(0).loop(),
                environment.blockingPool(),
                this::takeOffline);
        CoordinatorResources coordinators = new CoordinatorResources(
                shards, environment.blockingPool(), environment.clock(), slices, cluster.requests());
        this.groups = new GroupCoordinators(
                config, coordinators, environment.memory(), environment.ids(), cluster.requests());
        this.groupLags = new GroupLags(
                groups.coordinators(), coordinators, metadata::current, config.get(BrokerSettings.METRICS_GROUPS_MAX));
        this.handlers = new HandlerTable(authorizer(), config, metadata, controller, activeController);
        this.transactions = new TransactionCoordinators(
                config,
                coordinators,
                environment.memory(),
                HandlerTable.producerIds(activeController),
                groups.coordinators(),
                cluster.requests());
        this.telemetry = new Telemetry(
                metadata::current,
                environment.ids(),
                environment.clock(),
                environment.blockingPool(),
                config.get(BrokerSettings.TELEMETRY_MAX_BYTES),
                environment.memory().part(StatePart.CLIENT_METRICS));
        this.fetch = handlers.register(
                shards,
                environment.blockingPool(),
                groups.coordinators(),
                transactions.coordinators(),
                transactions.producerIds(),
                cluster.requests(),
                telemetry,
                environment.memory().part(StatePart.FETCH_SESSIONS),
                healer,
                cluster.hasPeers() ? cluster.gate(environment.trust().brokers()) : null);
    }

    /**
     * Opens the data directories and loads their contents.
     *
     * @throws IOException when the metadata cannot be read or written; nothing is left open
     */
    public static BrokerCore open(BrokerConfig config, Environment environment) throws IOException {
        return open(config, environment, CoordinatorSlice.Provider.NONE);
    }

    /**
     * As {@link #open(BrokerConfig, Environment)}, with stored coordinator state, so that coordinators need not read
     * their whole journals.
     *
     * @param slices the stored state; closed by the caller, after the core
     */
    public static BrokerCore open(BrokerConfig config, Environment environment, CoordinatorSlice.Provider slices)
            throws IOException {
        return open(config, environment, slices, null);
    }

    /**
     * As {@link #open(BrokerConfig, Environment, CoordinatorSlice.Provider)}, as a broker of a cluster.
     *
     * @param membership null for the metadata log that the configuration asks for
     */
    public static BrokerCore open(
            BrokerConfig config, Environment environment, CoordinatorSlice.Provider slices, Membership membership)
            throws IOException {
        BrokerCore core = create(config, environment, slices, membership);
        try {
            core.start();
        } catch (RuntimeException | Error failure) {
            core.close();
            throw failure;
        }
        return core;
    }

    private static BrokerCore create(
            BrokerConfig config, Environment environment, CoordinatorSlice.Provider slices, Membership membership)
            throws IOException {
        List<Controller> started = new ArrayList<>(1);
        try {
            return new BrokerCore(config, environment, slices, membership, started::add);
        } catch (IOException | RuntimeException | Error failure) {
            // Its thread would keep the process running.
            for (Controller controller : started) {
                controller.close();
            }
            throw failure;
        }
    }

    private Authorizer authorizer() {
        AuditLog audit = AuditLog.to(
                environment.clock(),
                environment.blockingPool(),
                environment.ids(),
                config.get(AccessSettings.AUDIT_ALLOWED));
        if (!config.get(AccessSettings.AUTHORIZATION_ENABLED)) {
            return Authorizer.unrestricted(audit);
        }
        return new Authorizer(
                () -> metadata.current().acls(),
                AccessSettings.principals(config.get(AccessSettings.SUPER_USERS)),
                config.get(AccessSettings.ALLOW_EVERYONE),
                audit);
    }

    private BrokerSupervisor supervisor(ControllerOperations activeController) {
        return new BrokerSupervisor(
                lifecycle,
                metadata,
                activeController,
                environment.cycles().get(0).loop(),
                config.get(ReplicationSettings.BROKER_HEARTBEAT_INTERVAL_MS));
    }

    /** Registers this broker, so that its partitions are recovered with their newest leader epochs. */
    private void joinCluster() throws IOException {
        var unused = controller.whenFailed().thenRun(supervisor::disable);
        try {
            opener.await(CompletableFuture.anyOf(metadataFailure(), lifecycle.join()));
        } catch (IOException | RuntimeException failure) {
            supervisor.stop();
            throw failure;
        }
    }

    /** Fails if the metadata of this broker cannot become newer. */
    private CompletableFuture<Void> metadataFailure() {
        return controller
                .whenFailed()
                .thenCompose(failed -> CompletableFuture.failedFuture(
                        new IOException("the metadata of the cluster cannot be applied; the log of this broker says why"
                                + " (event=metadata-log-failed)")));
    }

    private void start() {
        FutureWaiter waiting = environment.waiting();
        MetadataApplier applier = new MetadataApplier(shards, groups, transactions);
        MetadataImage image = metadata.addListener(applier);
        LeftPartitions left = new LeftPartitions(shards.partitions(), directories.partitionNames());
        directories.reportOrphans(left.deleteRemoved(image, removedTopics.take())::contains);
        MetadataDelta all = MetadataDelta.ofAll(image);
        markers.writeOpening();
        waiting.join(shards.partitions().open(all));
        Map<Uuid, List<Integer>> incomplete = shards.partitions().takeIncomplete();
        if (inCluster) {
            supervisor.setIncomplete(incomplete, () -> shards.partitions().forgetLosses(incomplete));
            left.deleteMoved(image, config.get(BrokerSettings.NODE_ID));
        }
        waiting.join(shards.startRetentionClock());
        Map<TopicPartition, RecoveredEnd> ends =
                image.topic(InternalTopics.GROUPS) == null ? Map.of() : waiting.join(shards.recoveredEnds());
        groups.start(all, ends);
        var unused = transactions.follow(all);
        applier.start(image, waiting);
        cleaner.start();
        markers.writeRunning(() -> offlinePartitions() == 0, this::takeOffline);
        watch.start();
    }

    /** Stops acknowledging records that belong in {@code directory}. */
    private void takeOffline(Path directory, String reason) {
        markers.takeOffline(directory);
        IOException failure = new IOException("the data directory " + directory + " is offline: " + reason);
        if (directory.equals(config.dataDirectories().get(0))) {
            controller.refuseChanges(failure);
            if (supervisor != null) {
                supervisor.disable();
            }
        }
        environment.waiting().join(shards.takeOffline(directory, failure));
    }

    /** Watches the data directories for loss. */
    DirectoryWatch directoryWatch() {
        return watch;
    }

    /** What the metadata say about the cluster. */
    ClusterMetrics clusterMetrics() {
        return new ClusterMetrics(config.get(BrokerSettings.NODE_ID), metadata::current, controller);
    }

    /** The counters of client metrics. */
    Telemetry telemetry() {
        return telemetry;
    }

    /** The lags of groups. */
    GroupLags groupLags() {
        return groupLags;
    }

    /** The counters of the coordinators, for each kind. */
    List<CoordinatorCounters> coordinatorCounters() {
        return List.of(
                groups.coordinators().counters(), transactions.coordinators().counters());
    }

    /**
     * Registers a broker that is alone in the metadata, and adds the handlers that describe the cluster and the
     * directories of the broker. Called before the first request.
     *
     * @param advertised the addresses that clients are given; a broker of a cluster has registered those of its
     *     configuration
     * @throws IOException if the registration cannot be written
     */
    public void describe(List<ListenerAddress> advertised, LogDirectories logDirectories) throws IOException {
        int nodeId = config.get(BrokerSettings.NODE_ID);
        if (!inCluster) {
            opener.await(lifecycle.register(advertised));
        }
        served = true;
        scrubber.start();
        handlers.describe(
                new ClusterBrokers(nodeId, metadata::current),
                logDirectories,
                new OfflineReplicas(nodeId, shards.offlinePartitions()),
                environment.clock());
        if (cluster.hasPeers()) {
            handlers.join(
                    cluster.forwarder(controller),
                    cluster.gate(environment.trust().brokers()));
        }
    }

    /** Calls for clients of the gateway, at the brokers that can serve them. */
    public LocalCalls localCalls() {
        return cluster.localCalls(handlers.registry());
    }

    /**
     * Lets this broker lead partitions, when clients and other brokers can reach it.
     *
     * @return completed when it may lead; at once for a broker that is alone. Fails if it can never lead
     */
    public CompletableFuture<Void> serve() {
        FailedReplicas failed = new FailedReplicas(shards.offlinePartitions());
        return supervisor == null
                ? CompletableFuture.completedFuture(null)
                : supervisor.serve(controller, failed, watch::full);
    }

    /**
     * As {@link #serve}, and waits until it may lead. Blocks.
     *
     * @throws IOException if it can never lead
     */
    void awaitServing() throws IOException {
        opener.await(serve());
    }

    /** Lets other brokers take over what this one leads, before it stops. Blocks. */
    public void handOver() {
        if (supervisor != null) {
            environment.waiting().join(shards.beginHandOver(HAND_OVER_MS));
            environment.waiting().join(supervisor.leave(config.get(BrokerSettings.SHUTDOWN_TIMEOUT_MS)));
        }
    }

    /** The newest metadata. Any thread. */
    MetadataImage metadata() {
        return metadata.current();
    }

    /** The current client quotas. Any thread. */
    public ClientQuotas quotas() {
        return metadata.current().quotas();
    }

    /** The current credentials of users. Any thread. */
    ScramImage scram() {
        return metadata.current().scram();
    }

    /** The handlers of all APIs. */
    public HandlerRegistry handlers() {
        return handlers.registry();
    }

    /** Number of partitions whose files cannot be used or, if they have other replicas, not be written. Any thread. */
    public int offlinePartitions() {
        return shards.offlinePartitions().count();
    }

    Shards shards() {
        return shards;
    }

    /** The partitions of this broker, as they are now. For a simulation, which runs all loops in one thread. */
    public List<ReplicaStatus> replicas() {
        return shards.all().stream()
                .flatMap(shard -> shard.hosts().stream())
                .map(PartitionHost::status)
                .toList();
    }

    /** The counters of compaction. */
    CleanerCounters cleanerCounters() {
        return cleaner.counters();
    }

    Scrubber scrubber() {
        return scrubber;
    }

    /** The counters of damage. */
    HealingCounters healingCounters() {
        return healer.counters();
    }

    /** Responds to every parked fetch, and parks no more. */
    void stopWaiting() {
        fetch.stopWaiting();
    }

    /** Lets running work finish, and closes every journal cleanly. */
    @Override
    public void close() throws IOException {
        if (supervisor != null) {
            supervisor.stop();
        }
        watch.stop();
        try {
            cleaner.close();
            scrubber.close();
            healer.close();
            controller.close();
        } finally {
            environment.waiting().join(metadata.published());
            environment.waiting().join(transactions.close());
            environment.waiting().join(groups.close());
            if (environment.waiting().join(shards.close())) {
                markers.writeClean(served);
            }
        }
    }
}
