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
import io.journalq.server.api.transaction.CoordinatorGate;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.JournalMetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.folder.DataDirectories;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalRedo;
import io.journalq.server.journal.LastEnd;
import io.journalq.server.journal.RunMark;
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
import io.journalq.server.shard.RecoveredEnd;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.StoredPartition;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.coordinator.CoordinatorCounters;
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
            lastEnds.put(directory, RunMark.lastEnd(surroundings.store(), directory));
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
        this.cleaner = Compaction.of(config, shards, surroundings);
        this.watch = new DirectoryWatch(
                directories,
                config.dataDirectories().size(),
                surroundings.cycles().get(0).loop(),
                surroundings.blockingPool(),
                this::takeOffline);
        this.groups = new GroupCoordinators(config, shards, surroundings, slices);
        this.handlers = new HandlerTable(config, metadata, controller, surroundings.memory());
        this.transactions = new TransactionCoordinators(
                config,
                shards,
                surroundings,
                slices,
                HandlerTable.producerIds(controller),
                groups.coordinators(),
                metadata::current);
        this.fetch = handlers.registerData(
                shards, surroundings.blockingPool(), new CoordinatorGate(transactions.coordinators()));
        handlers.registerGroups(groups.coordinators());
        handlers.registerTransactions(transactions, groups.coordinators());
        handlers.registerMarkers(shards, groups.coordinators());
        this.telemetry = new Telemetry(
                metadata::current,
                surroundings.ids(),
                surroundings.clock(),
                surroundings.blockingPool(),
                config.get(BrokerSettings.TELEMETRY_MAX_BYTES),
                surroundings.memory().part(StatePart.CLIENT_METRICS));
        handlers.registerTelemetry(telemetry);
        handlers.registerSecurity();
    }

    /**
     * Opens the data folders and loads what they hold.
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
            JournalRedo.run(store, directory);
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
        metadata.addListener(new PartitionsFollow(shards, groups, transactions, waiting));
        cleaner.start();
        for (Path directory : config.dataDirectories()) {
            RunMark.write(surroundings.store(), directory, offlinePartitions() == 0);
        }
        watch.start();
    }

    /** Nothing is acknowledged any more that would go into {@code directory}. */
    private void takeOffline(Path directory, String reason) {
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

    /** Adds the handlers that tell clients about the broker and its folders. Before the first request. */
    public void describe(BrokerIdentity identity, LogDirectories directories) {
        served = true;
        handlers.registerAdmin(identity, directories, new OfflineReplicas(shards.offlinePartitions()));
        handlers.registerCluster(identity, surroundings.clock());
    }

    /** What clients may do at most, as of now. */
    ClientQuotas quotas() {
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

    /** Answers every fetch that waits for records, and lets none wait any more. */
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
                if (clean && (served || lastEnds.get(directory) == LastEnd.CLEAN)) {
                    RunMark.delete(surroundings.store(), directory);
                }
            }
        }
    }
}
