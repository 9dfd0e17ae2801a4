package io.journalq.server.observe;

import io.journalq.server.loop.LoopCounters;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.MemoryPart;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocatorMetric;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;

/**
 * Every meter of one broker. Owns the registry. Values are pulled when the page is read: the parts count in fields of
 * their own, and what is hot pays nothing. Suppliers must therefore be readable from any thread and must not block.
 *
 * <p>Any thread.
 */
public final class BrokerMetrics implements AutoCloseable {
    private static final double NANOS_IN_A_SECOND = 1e9;

    private static final String SHARD_TAG = "shard";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();

    /** A function counter refers to its supplier weakly; this keeps the suppliers as long as the registry. */
    private final Queue<LongSupplier> suppliers = new ConcurrentLinkedQueue<>();

    /** A registry with the meters of the process and its Java machine. */
    public BrokerMetrics() {
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        garbageCollection.bindTo(registry);
    }

    /** What the admin listener serves. */
    public PrometheusMeterRegistry registry() {
        return registry;
    }

    /** Shows what the network layer counts. Once per registry. */
    public void bindNetwork(NetworkCounters counters) {
        gauge("journalq.network.connections", "Open connections.", counters::openConnections);
        counter("journalq.network.connections.accepted", "Connections accepted.", counters::acceptedConnections);
        counter(
                "journalq.network.connections.refused",
                "Connections closed for what they sent, or because there were too many.",
                counters::refusedConnections);
        counter(
                "journalq.network.connections.over.limit",
                "Connections closed on arrival: the broker, or their address, had as many as the setting allows.",
                Tags.of("limit", "max.connections"),
                counters::connectionsOverTotal);
        counter(
                "journalq.network.connections.over.limit",
                "Connections closed on arrival: the broker, or their address, had as many as the setting allows.",
                Tags.of("limit", "max.connections.per.ip"),
                counters::connectionsOverAddress);
        counter(
                "journalq.network.accept.failures",
                "Times the system refused a listener a connection, as when too many files are open.",
                counters::acceptFailures);
        counter(
                "journalq.network.connections.idle.closed",
                "Connections closed because nothing was completed on them for connections.max.idle.ms.",
                counters::idleConnections);
        counter(
                "journalq.network.connections.stalled.closed",
                "Connections closed because they held memory for which others waited, and hardly moved.",
                counters::stalledConnections);
        counter("journalq.network.requests", "Requests received.", counters::requests);
        counter("journalq.network.received.bytes", "Bytes of whole requests received.", counters::receivedBytes);
        counter("journalq.network.sent.bytes", "Bytes of answers handed to sockets.", counters::sentBytes);
        counter(
                "journalq.network.suspensions",
                "Times a connection was left unread because too much of it was unanswered.",
                counters::suspensions);
        counter(
                "journalq.network.turns.ended",
                "Times a connection had had its share of an iteration of its event loop, and others went on first.",
                counters::turnsEnded);
        counter(
                "journalq.network.accept.rests",
                "Times a listener rested for some milliseconds, as connections came faster than they are accepted.",
                counters::acceptRests);
        counter(
                "journalq.network.slow.parts",
                "Times so little of a request came that its socket was left unread until the rest, or 16 KiB, is there.",
                counters::slowParts);
        counter(
                "journalq.network.paused.ms",
                "Time that connections were left unread because their clients went beyond a quota, all together.",
                counters::pausedMs);
    }

    /** Shows how much direct memory requests and responses hold. Once per registry. */
    public void bindMemory(SharedMemory memory) {
        gauge(
                "journalq.network.memory.bytes",
                "Direct memory that requests above 1 MiB, and responses that wait for their clients, hold.",
                Tags.of("part", "large-requests"),
                memory::largeRequestBytes);
        gauge(
                "journalq.network.memory.bytes",
                "Direct memory that requests above 1 MiB, and responses that wait for their clients, hold.",
                Tags.of("part", "responses"),
                memory::responseBytes);
    }

    /** Shows what each event loop did, how long its iterations took, and what state takes of the heap. Once per registry. */
    public void bindLoops(List<LoopCycle> cycles, MemoryBudget memory) {
        for (LoopCycle cycle : cycles) {
            LoopCounters counters = cycle.counters();
            shardCounter(
                    cycle.index(),
                    "journalq.appended.messages",
                    "Messages appended to partitions.",
                    counters::appendedMessages);
            shardCounter(
                    cycle.index(),
                    "journalq.appended.bytes",
                    "Size of the batches appended to partitions, as they came.",
                    counters::appendedBytes);
            shardCounter(
                    cycle.index(),
                    "journalq.batches.checked.elsewhere",
                    "Batches beyond decompression.inline.max.bytes, or to be compressed anew, that went to a thread that"
                            + " may block.",
                    counters::checkedElsewhere);
            shardCounter(
                    cycle.index(),
                    "journalq.appends.refused.by.disk",
                    "Batches of clients and records of coordinators that were refused, as the disk failed.",
                    counters::refusedByDisk);
            shardCounter(
                    cycle.index(),
                    "journalq.fetched.bytes",
                    "Size of the records in answers to fetches.",
                    counters::fetchedBytes);
        }
        registry.getPrometheusRegistry().register(new RequestsCollector(cycles, memory));
        registry.getPrometheusRegistry().register(new LoopStallsCollector(cycles));
        for (MemoryPart part : memory.parts()) {
            Tags tags = Tags.of("part", part.part().label());
            gauge("journalq.state.memory.used.bytes", "Heap that state takes, as estimated.", tags, part::usedBytes);
            gauge("journalq.state.memory.max.bytes", "Heap that state may take.", tags, part::maxBytes);
        }
    }

    /**
     * Shows the memory that a buffer allocator holds.
     *
     * @param allocator its name on the page
     */
    public void bindAllocator(String allocator, ByteBufAllocatorMetric metric) {
        Tags tags = Tags.of("allocator", allocator);
        gauge("journalq.buffers.direct.bytes", "Direct memory held for buffers.", tags, metric::usedDirectMemory);
        gauge("journalq.buffers.heap.bytes", "Heap held for buffers.", tags, metric::usedHeapMemory);
    }

    /**
     * Shows a count that only grows.
     *
     * @param name dotted, such as {@code journalq.network.requests}; the page says {@code journalq_network_requests_total}
     */
    public void counter(String name, String description, LongSupplier value) {
        counter(name, description, Tags.empty(), value);
    }

    /** Shows a count that only grows, of one shard. */
    public void shardCounter(int shard, String name, String description, LongSupplier value) {
        counter(name, description, Tags.of(SHARD_TAG, String.valueOf(shard)), value);
    }

    /** Shows a value that goes up and down. */
    public void gauge(String name, String description, LongSupplier value) {
        gauge(name, description, Tags.empty(), value);
    }

    /** Shows an age in seconds. */
    public void ageGauge(String name, String description, LongSupplier nanos) {
        Gauge.builder(name, nanos, age -> age.getAsLong() / NANOS_IN_A_SECOND)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    /** Shows a value that goes up and down, of one shard. */
    public void shardGauge(int shard, String name, String description, LongSupplier value) {
        gauge(name, description, Tags.of(SHARD_TAG, String.valueOf(shard)), value);
    }

    private void counter(String name, String description, Tags tags, LongSupplier value) {
        suppliers.add(value);
        FunctionCounter.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .tags(tags)
                .register(registry);
    }

    private void gauge(String name, String description, Tags tags, LongSupplier value) {
        Gauge.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
        suppliers.clear();
    }
}
