package io.journalq.server.observe;

import io.journalq.server.loop.LoopCounters;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.MemoryPart;
import io.journalq.server.network.AuthenticationFailure;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.network.TlsFailure;
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
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * All metrics of one broker. Owns the registry. Values are read when the page is rendered, so that the hot path only
 * increments fields. Suppliers must be readable from any thread and must not block.
 *
 * <p>Names follow the Prometheus conventions: base units, {@code _total} on counters. They are stable once released.
 *
 * <p>Any thread.
 */
public final class BrokerMetrics implements AutoCloseable {
    private static final double NANOS_IN_A_SECOND = 1e9;

    private static final double MILLIS_IN_A_SECOND = 1e3;

    static final String SHARD_TAG = "shard";
    private static final String PART_TAG = "part";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();

    /**
     * A function counter has only a weak reference to its supplier. This queue keeps the suppliers alive as long as the
     * registry.
     */
    private final Queue<LongSupplier> suppliers = new ConcurrentLinkedQueue<>();

    /** A registry with the metrics of the process and its JVM. */
    public BrokerMetrics() {
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        garbageCollection.bindTo(registry);
    }

    /** The registry that the admin listener serves. */
    public PrometheusMeterRegistry registry() {
        return registry;
    }

    /** Adds the metrics of the network layer. Once for each registry. */
    public void bindNetwork(NetworkCounters counters) {
        gauge("journalq.network.connections", "Open connections.", counters::openConnections);
        counter("journalq.network.connections.accepted", "Accepted connections.", counters::acceptedConnections);
        counter(
                "journalq.network.connections.refused",
                "Connections closed because of an invalid request, or on arrival because of a limit.",
                counters::refusedConnections);
        String overLimit = "Connections closed on arrival because of the setting in the label limit.";
        counter(
                "journalq.network.connections.over.limit",
                overLimit,
                Tags.of("limit", "max.connections"),
                counters::connectionsOverTotal);
        counter(
                "journalq.network.connections.over.limit",
                overLimit,
                Tags.of("limit", "max.connections.per.ip"),
                counters::connectionsOverAddress);
        counter(
                "journalq.network.accept.failures",
                "Failed accept calls, for example because the process has too many open files. Retried after 1 s.",
                counters::acceptFailures);
        counter(
                "journalq.network.connections.idle.closed",
                "Connections closed because no request completed within connections.max.idle.ms.",
                counters::idleConnections);
        counter(
                "journalq.network.connections.stalled.closed",
                "Connections closed because they held memory that others waited for, and moved less than 1 MiB in 5 s.",
                counters::stalledConnections);
        counter("journalq.network.requests", "Received requests.", counters::requests);
        counter(
                "journalq.network.received.bytes",
                "Bytes of received requests, without their length fields.",
                counters::receivedBytes);
        counter("journalq.network.sent.bytes", "Bytes of responses written to sockets.", counters::sentBytes);
        counter(
                "journalq.network.read.suspensions",
                "Times the broker stopped reading a socket because of a limit on requests or memory in flight.",
                counters::suspensions);
        counter(
                "journalq.network.read.yields",
                "Times a connection used up its share of an event loop iteration and yielded to other connections.",
                counters::readYields);
        counter(
                "journalq.network.accept.throttles",
                "Times a listener stopped accepting for some milliseconds because of max.connection.creation.rate.",
                counters::acceptPauses);
        counter(
                "journalq.network.small.reads.deferred",
                "Times less than 512 bytes of a request arrived, so that the next read waits for the rest or 16 KiB.",
                counters::slowParts);
        gauge(
                "journalq.network.connections.unauthenticated",
                "Open connections whose clients have not logged in yet, or not completed the handshake of TLS.",
                counters::unauthenticatedConnections);
        counter(
                "journalq.authentications",
                "Times a client authenticated by SASL, for the first time or again.",
                counters::authentications);
        for (AuthenticationFailure failure : AuthenticationFailure.values()) {
            counter(
                    "journalq.authentication.failures",
                    "Connections that were closed because the client did not authenticate by SASL, for the reason in the"
                            + " label.",
                    Tags.of("reason", failure.label()),
                    () -> counters.authenticationFailures(failure));
        }
        counter("journalq.tls.handshakes", "Completed TLS handshakes.", counters::tlsHandshakes);
        for (TlsFailure failure : TlsFailure.values()) {
            counter(
                    "journalq.tls.failures",
                    "Connections to encrypted listeners that were closed for the reason in the label.",
                    Tags.of("reason", failure.label()),
                    () -> counters.tlsFailures(failure));
        }
        counter(
                "journalq.tls.reloads",
                "Times changed files of keys or certificates came into use.",
                counters::tlsReloads);
        counter(
                "journalq.tls.reload.failures",
                "Times changed files of keys or certificates could not be used. The previous ones stay in use.",
                counters::tlsReloadFailures);
        gauge(
                "journalq.tls.certificate.expiry.timestamp.seconds",
                "When the certificate of the broker expires, in seconds since 1970. 0 without an encrypted listener.",
                counters::tlsExpirySeconds);
        secondsCounter(
                "journalq.network.throttled.seconds",
                "Time that connections were not read because their clients exceeded a quota, summed over connections.",
                counters::pausedMs);
    }

    /** Adds the metrics of the direct memory of requests and responses. Once for each registry. */
    public void bindMemory(SharedMemory memory) {
        String description = "Direct memory held by requests above 1 MiB and by responses that wait for their clients.";
        gauge(
                "journalq.network.memory.bytes",
                description,
                Tags.of(PART_TAG, "large-requests"),
                memory::largeRequestBytes);
        gauge("journalq.network.memory.bytes", description, Tags.of(PART_TAG, "responses"), memory::responseBytes);
    }

    /** Adds the metrics of the event loops and of the heap that state uses. Once for each registry. */
    public void bindLoops(List<LoopCycle> cycles, MemoryBudget memory) {
        for (LoopCycle cycle : cycles) {
            LoopCounters counters = cycle.counters();
            shardCounter(
                    cycle.index(),
                    "journalq.appended.records",
                    "Records appended to partitions, including the partitions of internal topics.",
                    counters::appendedMessages);
            shardCounter(
                    cycle.index(),
                    "journalq.appended.bytes",
                    "Bytes of appended batches, as producers sent them.",
                    counters::appendedBytes);
            shardCounter(
                    cycle.index(),
                    "journalq.batches.validated.off.loop",
                    "Batches validated off the event loop: larger than decompression.inline.max.bytes, or recompressed.",
                    counters::validatedOffLoop);
            shardCounter(
                    cycle.index(),
                    "journalq.append.disk.errors",
                    "Batches of clients and coordinators refused because the disk was full or failed.",
                    counters::refusedByDisk);
            shardCounter(
                    cycle.index(),
                    "journalq.fetched.bytes",
                    "Bytes of records in Fetch responses, by the shard of the connection.",
                    counters::fetchedBytes);
            shardCounter(
                    cycle.index(),
                    "journalq.loop.hand.overs",
                    "Tasks handed to other event loops, each with all work for that loop in one iteration.",
                    counters::handOvers);
        }
        registry.getPrometheusRegistry().register(new RequestsCollector(cycles, memory));
        registry.getPrometheusRegistry().register(new LoopStallsCollector(cycles));
        registry.getPrometheusRegistry().register(new RequestTimesCollector(cycles));
        for (MemoryPart part : memory.parts()) {
            Tags tags = Tags.of(PART_TAG, part.part().label());
            gauge("journalq.state.memory.used.bytes", "Estimated heap used by state.", tags, part::usedBytes);
            gauge("journalq.state.memory.max.bytes", "Maximum heap for state.", tags, part::maxBytes);
        }
    }

    /**
     * Adds the memory that a buffer allocator holds.
     *
     * @param allocator value of the label {@code allocator}
     */
    public void bindAllocator(String allocator, ByteBufAllocatorMetric metric) {
        Tags tags = Tags.of("allocator", allocator);
        gauge("journalq.buffers.direct.bytes", "Direct memory held for buffers.", tags, metric::usedDirectMemory);
        gauge("journalq.buffers.heap.bytes", "Heap held for buffers.", tags, metric::usedHeapMemory);
    }

    /**
     * Adds a counter.
     *
     * @param name dotted: {@code journalq.network.requests} is exposed as {@code journalq_network_requests_total}
     */
    public void counter(String name, String description, LongSupplier value) {
        counter(name, description, Tags.empty(), value);
    }

    /** Adds a counter of one shard. */
    public void shardCounter(int shard, String name, String description, LongSupplier value) {
        counter(name, description, Tags.of(SHARD_TAG, String.valueOf(shard)), value);
    }

    /** Adds a counter of a duration, exposed in seconds. */
    public void secondsCounter(String name, String description, LongSupplier millis) {
        suppliers.add(millis);
        FunctionCounter.builder(name, millis, duration -> duration.getAsLong() / MILLIS_IN_A_SECOND)
                .description(description)
                .register(registry);
    }

    /** Adds a gauge. */
    public void gauge(String name, String description, LongSupplier value) {
        gauge(name, description, Tags.empty(), value);
    }

    /** Adds a fraction from 0 to 1. */
    public void ratioGauge(String name, String description, DoubleSupplier ratio) {
        Gauge.builder(name, ratio, DoubleSupplier::getAsDouble)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    /** Adds an age, exposed in seconds. */
    public void ageGauge(String name, String description, LongSupplier nanos) {
        Gauge.builder(name, nanos, age -> age.getAsLong() / NANOS_IN_A_SECOND)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    /** Adds a time, exposed in seconds since 1970-01-01 UTC. */
    public void timestampGauge(String name, String description, LongSupplier epochMs) {
        Gauge.builder(name, epochMs, time -> time.getAsLong() / MILLIS_IN_A_SECOND)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    /**
     * One series of a metric.
     *
     * @param labelValues in the order of the metric's labels; any characters, which the page escapes
     */
    public record Series(List<String> labelValues, double value) {}

    /**
     * Adds a counter whose series come and go, such as one for each topic.
     *
     * @param series called when a page is rendered, on the thread that renders it; no two series may have the same
     *     labels
     */
    public void counters(String name, String description, List<String> labels, Supplier<List<Series>> series) {
        registry.getPrometheusRegistry()
                .register(new SeriesCollector(name.replace('.', '_'), description, true, labels, series));
    }

    /** Adds a gauge whose series come and go; see {@link #counters}. */
    public void gauges(String name, String description, List<String> labels, Supplier<List<Series>> series) {
        registry.getPrometheusRegistry()
                .register(new SeriesCollector(name.replace('.', '_'), description, false, labels, series));
    }

    /** Adds the version of the broker and of its JVM, as labels of a series that is always 1. */
    public void bindBuild(String version) {
        registry.getPrometheusRegistry().register((Collector) () -> InfoSnapshot.builder()
                .name("journalq_build")
                .help("The versions of the broker and of Java, as labels; the value is always 1.")
                .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder()
                        .labels(Labels.of("java_version", Runtime.version().toString(), "version", version))
                        .build())
                .build());
    }

    /** Adds a gauge of one shard. */
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
