package io.journalq.server.broker;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.admin.LogDirectories;
import io.journalq.server.api.admin.OfflineReplicas;
import io.journalq.server.api.admin.config.ConfigRules;
import io.journalq.server.api.data.FetchHandler;
import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.JournalMetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.folder.DataDirectories;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.RunMark;
import io.journalq.server.journal.RunMark.LastEnd;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.Waiting;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataLimits;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.compaction.LogCleaner.CleanerSurroundings;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.partition.RecoveredEnd;
import io.journalq.server.store.CoordinatorSlices;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/**
 * A broker without sockets: metadata, partitions, coordinators, and the handlers of all APIs. Everything that could make
 * two runs differ is given to it, so that a simulation runs this very code, in one thread and on its own files and time.
 *
 * <p>Opened and closed by one thread, which may wait; handlers are called on the loops.
 */
public final class BrokerCore implements AutoCloseable {
    static final String METADATA_DIRECTORY = "metadata";

    private final BrokerConfig config;
    private final Surroundings surroundings;
    private final MetadataPublisher metadata = new MetadataPublisher();
    private final DataDirectories directories;
    private final Controller controller;
    private final Shards shards;
    private final GroupCoordinators groups;
    private final TransactionCoordinators transactions;
    private final HandlerTable handlers;
    private final Map<Path, LastEnd> lastEnds = new LinkedHashMap<>();
    /** Nothing is written there any more: another directory may have taken the place. */
    private final Set<Path> offlineDirectories = ConcurrentHashMap.newKeySet();

    private final FetchHandler fetch;
    private final Telemetry telemetry;
    private final LogCleaner cleaner;
    /** Whether clients may have been served. */
    private boolean served;

    private final DirectoryWatch watch;

    /**
     * What a broker runs on.
     *
     * @param store its files
     * @param cycles its loops, each a shard
     * @param blockingPool for what waits for the disk
     * @param controllerThread runs changes of metadata one after the other; shut down when the core is closed
     * @param memory what state may take of the heap
     * @param clock the time of day
     * @param ids gives ids that were never given before, and cannot be guessed
     * @param waiting how a thread waits for what others do
     */
    public record Surroundings(
            FileStore store,
            List<LoopCycle> cycles,
            Executor blockingPool,
            ExecutorService controllerThread,
            MemoryBudget memory,
            Clock clock,
            Supplier<Uuid> ids,
            Waiting waiting) {}

    private BrokerCore(BrokerConfig config, Surroundings surroundings, CoordinatorSlices slices) throws IOException {
        this.config = config;
        this.surroundings = surroundings;
        this.directories = DataDirectories.open(
                surroundings.store(), config.dataDirectories(), METADATA_DIRECTORY, config.get(BrokerSettings.NODE_ID));
        for (Path directory : config.dataDirectories()) {
            lastEnds.put(
                    directory,
                    directories.hasPartitions(directory)
                            ? RunMark.lastEnd(surroundings.store(), directory)
                            : LastEnd.CLEAN);
        }
        this.controller = openController();
        this.shards = new Shards(
                config,
                surroundings.cycles(),
                surroundings.store(),
                surroundings.blockingPool(),
                surroundings.clock(),
                lastEnds,
                surroundings.memory().part(StatePart.PRODUCERS));
        this.cleaner = Compaction.of(
                config,
                shards,
                new CleanerSurroundings(surroundings.blockingPool(), surroundings.clock(), surroundings.waiting()),
                surroundings.ids());
        this.watch = new DirectoryWatch(
                directories,
                config.dataDirectories().size(),
                surroundings.cycles().get(0).loop(),
                surroundings.blockingPool(),
                this::takeOffline);
        CoordinatorResources coordinators =
                new CoordinatorResources(shards, surroundings.blockingPool(), surroundings.clock(), slices);
        this.groups = new GroupCoordinators(config, coordinators, surroundings.memory(), surroundings.ids());
        this.handlers = new HandlerTable(config, metadata, controller);
        this.transactions = new TransactionCoordinators(
                config,
                coordinators,
                surroundings.memory(),
                HandlerTable.producerIds(controller),
                groups.coordinators(),
                metadata::current);
        this.telemetry = new Telemetry(
                metadata::current,
                surroundings.ids(),
                surroundings.clock(),
                surroundings.blockingPool(),
                config.get(BrokerSettings.TELEMETRY_MAX_BYTES),
                surroundings.memory().part(StatePart.CLIENT_METRICS));
        this.fetch = handlers.register(
                shards,
                surroundings.blockingPool(),
                groups.coordinators(),
                transactions.coordinators(),
                transactions.producerIds(),
                telemetry,
                surroundings.memory().part(StatePart.FETCH_SESSIONS));
    }

    /**
     * Opens the data directories and loads their contents.
     *
     * @throws IOException when the metadata cannot be read or written; nothing is left open
     */
    public static BrokerCore open(BrokerConfig config, Surroundings surroundings) throws IOException {
        return open(config, surroundings, CoordinatorSlices.NONE);
    }

    /**
     * As {@link #open(BrokerConfig, Surroundings)}, with coordinators that need not read their whole journals.
     *
     * @param slices what is stored of their state; closed by the caller, after the core
     */
    public static BrokerCore open(BrokerConfig config, Surroundings surroundings, CoordinatorSlices slices)
            throws IOException {
        BrokerCore core = new BrokerCore(config, surroundings, slices);
        try {
            core.start();
        } catch (RuntimeException failure) {
            core.close();
            throw failure;
        }
        return core;
    }

    private Controller openController() throws IOException {
        FileStore store = surroundings.store();
        for (var directory : config.dataDirectories()) {
            Journal.deleteLeftovers(store, directory);
            WalReplay.run(store, directory);
        }
        Journal journal = Journal.openWhole(
                store,
                config.dataDirectories().get(0).resolve(METADATA_DIRECTORY),
                JournalMetadataLog.JOURNAL_CONFIG,
                surroundings.blockingPool());
        MetadataLimits limits = new MetadataLimits(
                config.get(BrokerSettings.NODE_ID),
                config.get(BrokerSettings.NUM_PARTITIONS),
                config.get(BrokerSettings.MAX_PARTITIONS_PER_TOPIC),
                config.get(BrokerSettings.MAX_PARTITIONS));
        Controller opened = new Controller(
                new MetadataMachine(
                        limits, new ConfigRules(config), surroundings.memory().part(StatePart.METADATA)),
                new JournalMetadataLog(journal, surroundings.clock(), PooledByteBufAllocator.DEFAULT),
                metadata,
                surroundings.ids(),
                surroundings.controllerThread());
        try {
            opened.start(directories::checkCluster);
            directories.identify(metadata.current().clusterId(), surroundings.ids());
        } catch (IOException | RuntimeException failure) {
            opened.close();
            throw failure;
        }
        return opened;
    }

    private void start() {
        Waiting waiting = surroundings.waiting();
        MetadataImage image = metadata.current();
        directories.reportOrphans(partitionDirectories(image)::contains);
        waiting.join(shards.open(image));
        waiting.join(shards.startRetentionClock());
        Map<TopicPartition, RecoveredEnd> ends =
                image.topic(InternalTopics.GROUPS) == null ? Map.of() : waiting.join(shards.recoveredEnds());
        groups.start(image, ends);
        var unused = transactions.follow(image);
        metadata.addListener(new MetadataApplier(shards, groups, transactions, waiting));
        cleaner.start();
        config.dataDirectories().forEach(this::markRunning);
        watch.start();
    }

    private void markRunning(Path directory) {
        try {
            RunMark.writeRunning(surroundings.store(), directory, lastEnds.get(directory), offlinePartitions() == 0);
        } catch (IOException failure) {
            takeOffline(directory, "cannot write or delete " + RunMark.FILE_NAME + ": " + failure.getMessage());
        }
    }

    /** Nothing is acknowledged any more that would go into {@code directory}. */
    private void takeOffline(Path directory, String reason) {
        offlineDirectories.add(directory);
        IOException failure = new IOException("the data directory " + directory + " is offline: " + reason);
        if (directory.equals(config.dataDirectories().get(0))) {
            controller.refuseChanges(failure);
        }
        surroundings.waiting().join(shards.takeOffline(directory, failure));
    }

    /** Whether the data directories are still there. */
    DirectoryWatch directoryWatch() {
        return watch;
    }

    /** Names of the directories that the partitions of all topics lie in. */
    private static Set<String> partitionDirectories(MetadataImage image) {
        Set<String> names = new HashSet<>();
        for (TopicImage topic : image.topics()) {
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                names.add(StoredPartition.directoryName(topic.id(), partition));
            }
        }
        return names;
    }

    /** What is counted of clients' metrics. */
    Telemetry telemetry() {
        return telemetry;
    }

    /** What coordinators count, kind by kind. */
    List<CoordinatorCounters> coordinatorCounters() {
        return List.of(
                groups.coordinators().counters(), transactions.coordinators().counters());
    }

    /** Adds the handlers that tell clients about the broker and its directories. Before the first request. */
    public void describe(BrokerIdentity identity, LogDirectories directories) {
        served = true;
        handlers.describe(identity, directories, new OfflineReplicas(shards.offlinePartitions()), surroundings.clock());
    }

    /** The quotas of clients, as of now. Any thread. */
    public ClientQuotas quotas() {
        return metadata.current().quotas();
    }

    /** The handlers of all APIs. */
    public HandlerRegistry handlers() {
        return handlers.registry();
    }

    /** Partitions that are not served, as their files cannot be used. Any thread. */
    public int offlinePartitions() {
        return shards.offlinePartitions().count();
    }

    Shards shards() {
        return shards;
    }

    /** What compaction counts. */
    CleanerCounters cleanerCounters() {
        return cleaner.counters();
    }

    /** Responds to every parked fetch, and parks no more. */
    void stopWaiting() {
        fetch.stopWaiting();
    }

    /** Lets what is under way finish, and closes every journal cleanly. */
    @Override
    public void close() throws IOException {
        watch.stop();
        try {
            cleaner.close();
            controller.close();
        } finally {
            surroundings.waiting().join(transactions.close());
            surroundings.waiting().join(groups.close());
            boolean clean = surroundings.waiting().join(shards.close());
            // Before anybody was served, an unclean end still matters to the producers that come back later.
            for (Path directory : config.dataDirectories()) {
                boolean kept = served || lastEnds.get(directory) == LastEnd.CLEAN;
                if (clean && kept && !offlineDirectories.contains(directory)) {
                    RunMark.writeClean(surroundings.store(), directory);
                }
            }
        }
    }
}
