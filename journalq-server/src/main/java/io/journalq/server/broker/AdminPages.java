package io.journalq.server.broker;

import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.observe.AdminListener;
import io.journalq.server.observe.AllowedHosts;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.observe.Health;
import io.journalq.server.shard.coordinator.CoordinatorCounters;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What the admin listener serves: the broker's health, and the meters of all its parts. A broker without that listener has
 * none of this: what meters need is a good part of all classes that a broker loads. Any thread.
 */
final class AdminPages implements AutoCloseable {
    private final BrokerMetrics metrics;
    private final AdminListener listener;

    private AdminPages(BrokerMetrics metrics, AdminListener listener) {
        this.metrics = metrics;
        this.listener = listener;
    }

    /**
     * Serves health and what there is to count so far.
     *
     * @throws IOException when the address cannot be bound; nothing is left open
     */
    static AdminPages open(
            BrokerConfig config,
            EventLoops loops,
            NetworkCounters network,
            SharedMemory directMemory,
            MemoryBudget stateMemory,
            Supplier<Health> health)
            throws IOException {
        ListenerAddress wanted = config.adminListener().orElseThrow();
        BrokerMetrics metrics = new BrokerMetrics();
        try {
            metrics.bindLoops(loops.cycles(), stateMemory);
            metrics.bindNetwork(network);
            metrics.bindMemory(directMemory);
            metrics.bindAllocator("pooled", PooledByteBufAllocator.DEFAULT.metric());
            return new AdminPages(
                    metrics,
                    AdminListener.start(
                            wanted.host(), wanted.port(), metrics.registry(), health, allowedHosts(config)));
        } catch (IOException | RuntimeException failure) {
            metrics.close();
            throw failure;
        }
    }

    /** Every name that the broker is known by. */
    private static AllowedHosts allowedHosts(BrokerConfig config) {
        List<String> names = new ArrayList<>(config.get(BrokerSettings.ADMIN_ALLOWED_HOSTS));
        config.adminListener().ifPresent(admin -> names.add(admin.host()));
        config.listeners().forEach(listener -> names.add(listener.host()));
        config.advertisedListeners().forEach(listener -> names.add(listener.host()));
        names.add(machineName());
        return new AllowedHosts(names);
    }

    /** Empty when it is not known. Asks no name server, which could delay the start. */
    private static String machineName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException notLinux) {
            return System.getenv().getOrDefault("HOSTNAME", "");
        }
    }

    /** The port that it was given. */
    int port() {
        return listener.port();
    }

    /** Shows what the core counts. Once. */
    void show(BrokerCore core, Clock clock) {
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
        metrics.gauge(
                "journalq.partitions.offline",
                "Partitions that are not served, as their files cannot be used.",
                () -> core.shards().offlinePartitions().count());
        metrics.gauge(
                "journalq.data.directories.offline",
                "Data directories that were lost, and take nothing until the broker is restarted.",
                core.directoryWatch()::lostCount);
        metrics.gauge(
                "journalq.retention.waiting",
                "1 while nothing is deleted by time, because the clock is too far ahead.",
                () -> core.shards().isRetentionWaiting() ? 1 : 0);
        metrics.gauge(
                "journalq.transactions.hanging",
                "Transactions open in partitions for longer than transaction.max.timeout.ms.",
                core.shards()::hangingTransactions);
        metrics.ageGauge(
                "journalq.oldest.unsynced.record.age.seconds",
                "Time since the oldest record that a power loss could take was written.",
                core.shards()::oldestUnsyncedAgeNanos);
        bindTelemetry(core.telemetry());
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

    @Override
    public void close() {
        listener.close();
        metrics.close();
    }
}
