package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.api.admin.config.ConfigRules;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ReplicationSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.control.QuorumTls;
import io.journalq.server.control.ReplicaEnds;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.MetadataMachine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Opens the metadata in the data directories, and the controller that changes it. Used by one thread, which may block.
 */
final class ControllerOpener {
    private final BrokerConfig config;
    private final Environment environment;
    private final DataDirectories directories;

    /**
     * Everything that the metadata depend on.
     *
     * @param store its files
     * @param blockingPool runs operations that may block
     * @param thread runs the changes one after the other; shut down with the controller
     * @param memory the heap budget
     * @param clock the time of day
     * @param ids supplies ids that are unique and cannot be guessed
     * @param nanoTime a clock that never goes back
     * @param waiting how a thread waits for a future
     */
    record Environment(
            FileStore store,
            Executor blockingPool,
            ExecutorService thread,
            MemoryBudget memory,
            Clock clock,
            Supplier<Uuid> ids,
            LongSupplier nanoTime,
            FutureWaiter waiting) {}

    ControllerOpener(BrokerConfig config, Environment environment, DataDirectories directories) {
        this.config = config;
        this.environment = environment;
        this.directories = directories;
    }

    /** Completes what the last process had begun with the files of the data directories. */
    void recoverFiles() throws IOException {
        for (Path directory : config.dataDirectories()) {
            Journal.deleteLeftovers(environment.store(), directory);
            WalReplay.run(environment.store(), directory);
        }
    }

    /**
     * Opens the log that the configuration asks for.
     *
     * @param join null for a broker that joins no cluster
     * @param tls of the voters of a quorum; null if their connections are not encrypted
     */
    MetadataLog openLog(ClusterJoin join, QuorumTls tls) throws IOException {
        return new MetadataLogOpener(
                        config,
                        directories,
                        environment.store(),
                        environment.clock(),
                        environment.blockingPool(),
                        environment.ids(),
                        join,
                        tls)
                .open(newMachine(MemoryAccount.UNBOUNDED), this::await);
    }

    /**
     * Starts the controller.
     *
     * @param metadata receives the images
     * @param ends of the replicas of all brokers; null for a broker that is alone
     */
    Controller start(MetadataLog metadataLog, MetadataPublisher metadata, ReplicaEnds ends) throws IOException {
        Controller started = new Controller(
                new MetadataReplica(newMachine(environment.memory().part(StatePart.METADATA)), metadata),
                metadataLog,
                environment.ids(),
                environment.thread());
        if (metadataLog.electsLeader()) {
            started.watchBrokers(
                    () -> TimeUnit.NANOSECONDS.toMillis(environment.nanoTime().getAsLong()),
                    config.get(ReplicationSettings.BROKER_SESSION_TIMEOUT_MS),
                    config.get(ReplicationSettings.BROKER_HEARTBEAT_INTERVAL_MS),
                    ends);
        }
        try {
            await(started.start(directories::checkCluster));
            directories.identify(metadata.current().clusterId(), environment.ids());
        } catch (IOException | RuntimeException | Error failure) {
            started.close();
            throw failure;
        }
        return started;
    }

    private MetadataMachine newMachine(MemoryAccount memory) {
        MetadataMachine.Limits limits = new MetadataMachine.Limits(
                config.get(BrokerSettings.NODE_ID),
                config.get(BrokerSettings.NUM_PARTITIONS),
                config.get(ReplicationSettings.DEFAULT_REPLICATION_FACTOR),
                config.get(BrokerSettings.MAX_PARTITIONS_PER_TOPIC),
                config.get(BrokerSettings.MAX_PARTITIONS));
        return new MetadataMachine(limits, new ConfigRules(config), memory);
    }

    /** See {@link MetadataLogOpener.Waiting}. */
    void await(CompletableFuture<?> awaited) throws IOException {
        try {
            environment.waiting().join(awaited);
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof IOException cannotWrite) {
                throw cannotWrite;
            }
            if (failure.getCause() instanceof UncheckedIOException cannotWrite) {
                throw cannotWrite.getCause();
            }
            throw failure;
        }
    }
}
