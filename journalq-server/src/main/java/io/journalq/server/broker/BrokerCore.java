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
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.directory.DirectoryWatch;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.Authorizer;
import io.journalq.server.shard.LogDirectories;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.group.GroupLags;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
import io.journalq.server.shard.metadata.MetadataApplier;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.RecoveredEnd;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.server.store.CoordinatorSlice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

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
    private final BrokerEnvironment environment;
    private final MetadataPublisher metadata;
    private final RemovedTopics removedTopics = new RemovedTopics();
    private final ClusterSetup cluster;
    private final DataDirectories directories;
    private final ShutdownMarkers markers;
    private final ControllerOpener opener;
    private final Controller controller;
    private final ClusterMember member;
    private final Shards shards;
    private final GroupCoordinators groups;
    private final GroupLags groupLags;
    private final TransactionCoordinators transactions;
    private final HandlerTable handlers;
    private final FetchHandler fetch;
    private final Telemetry telemetry;
    private final LogMaintenance maintenance;
    /** Whether clients may have been served. */
    private boolean served;

    private final DirectoryWatch watch;

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
            BrokerEnvironment environment,
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
        Membership connected = membership != null
                ? membership
                : new Membership(
                        opener.openLog(
                                cluster.join(environment.waiting()),
                                environment.trust().quorum()),
                        cluster.remoteControllers());
        boolean inCluster = connected.log().electsLeader();
        this.controller = opener.start(connected.log(), metadata, cluster.replicaEnds());
        onController.accept(controller);
        ControllerOperations activeController =
                inCluster ? cluster.link(controller, connected.controllers()) : controller;
        BrokerLifecycle lifecycle = new BrokerLifecycle(
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
        this.member = new ClusterMember(
                config,
                controller,
                lifecycle,
                inCluster ? cluster.supervisor(lifecycle, metadata, activeController) : null,
                opener::await);
        member.join();
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
        this.maintenance = new LogMaintenance(config, environment, shards, cluster.requests());
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
                maintenance.damageListener(),
                cluster.hasPeers() ? cluster.gate(environment.trust().brokers()) : null);
    }

    /**
     * Opens the data directories and loads their contents.
     *
     * @throws IOException when the metadata cannot be read or written; nothing is left open
     */
    public static BrokerCore open(BrokerConfig config, BrokerEnvironment environment) throws IOException {
        return open(config, environment, CoordinatorSlice.Provider.NONE);
    }

    /**
     * As {@link #open(BrokerConfig, BrokerEnvironment)}, with stored coordinator state, so that coordinators need not
     * read their whole journals.
     *
     * @param slices the stored state; closed by the caller, after the core
     */
    public static BrokerCore open(BrokerConfig config, BrokerEnvironment environment, CoordinatorSlice.Provider slices)
            throws IOException {
        return open(config, environment, slices, null);
    }

    /**
     * As {@link #open(BrokerConfig, BrokerEnvironment, CoordinatorSlice.Provider)}, as a broker of a cluster.
     *
     * @param membership null for the metadata log that the configuration asks for
     */
    public static BrokerCore open(
            BrokerConfig config, BrokerEnvironment environment, CoordinatorSlice.Provider slices, Membership membership)
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
            BrokerConfig config, BrokerEnvironment environment, CoordinatorSlice.Provider slices, Membership membership)
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
        member.setIncomplete(incomplete, () -> shards.partitions().forgetLosses(incomplete));
        if (member.isInCluster()) {
            left.deleteMoved(image, config.get(BrokerSettings.NODE_ID));
        }
        waiting.join(shards.startRetentionClock());
        Map<TopicPartition, RecoveredEnd> ends =
                image.topic(InternalTopics.GROUPS) == null ? Map.of() : waiting.join(shards.recoveredEnds());
        groups.start(all, ends);
        var unused = transactions.follow(all);
        applier.start(image, waiting);
        maintenance.startCompaction();
        markers.writeRunning(() -> offlinePartitions() == 0, this::takeOffline);
        watch.start();
    }

    /** Stops acknowledging records that belong in {@code directory}. */
    private void takeOffline(Path directory, String reason) {
        markers.takeOffline(directory);
        IOException failure = new IOException("the data directory " + directory + " is offline: " + reason);
        if (directory.equals(config.dataDirectories().get(0))) {
            controller.refuseChanges(failure);
            member.disable();
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
        member.registerAlone(advertised);
        served = true;
        maintenance.startScrubbing();
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
        return member.serve(new FailedReplicas(shards.offlinePartitions()), watch::full);
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
        if (member.isInCluster()) {
            environment.waiting().join(shards.beginHandOver(HAND_OVER_MS));
            environment.waiting().join(member.leave());
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

    /** The background work on the logs. */
    LogMaintenance maintenance() {
        return maintenance;
    }

    /** Responds to every parked fetch, and parks no more. */
    void stopWaiting() {
        fetch.stopWaiting();
    }

    /** Lets running work finish, and closes every journal cleanly. */
    @Override
    public void close() throws IOException {
        member.stop();
        watch.stop();
        try {
            maintenance.close();
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
