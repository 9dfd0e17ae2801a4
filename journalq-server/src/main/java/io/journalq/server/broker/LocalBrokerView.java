package io.journalq.server.broker;

import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.http.GatewayCounters;
import io.journalq.server.journal.file.SyncTimes;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.LoopStalls;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.observe.Health;
import io.journalq.server.shard.LogDirectories;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.TimestampLookup;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the gateway shows of this broker. Any thread. */
final class LocalBrokerView implements BrokerView {
    private static final Logger log = LoggerFactory.getLogger(LocalBrokerView.class);

    private final BrokerCore core;
    private final Parts parts;
    private final GatewayCounters gateway;

    /**
     * The parts of the broker outside its core.
     *
     * @param syncs durations of fsync calls; null if the broker keeps everything in memory
     */
    record Parts(
            int nodeId,
            List<LoopCycle> cycles,
            NetworkCounters network,
            Supplier<Health> health,
            LogDirectories directories,
            SyncTimes syncs,
            Executor blockingPool,
            LongSupplier epochMs) {}

    LocalBrokerView(BrokerCore core, Parts parts, GatewayCounters gateway) {
        this.core = core;
        this.parts = parts;
        this.gateway = gateway;
    }

    @Override
    public int nodeId() {
        return parts.nodeId();
    }

    @Override
    public String version() {
        String version = LocalBrokerView.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }

    @Override
    public Counters counters() {
        long records = 0;
        long appendedBytes = 0;
        long fetchedBytes = 0;
        for (LoopCycle cycle : parts.cycles()) {
            records += cycle.counters().appendedMessages();
            appendedBytes += cycle.counters().appendedBytes();
            fetchedBytes += cycle.counters().fetchedBytes();
        }
        Runtime runtime = Runtime.getRuntime();
        return new Counters(
                records,
                appendedBytes,
                fetchedBytes,
                parts.network().requests(),
                parts.network().openConnections(),
                runtime.totalMemory() - runtime.freeMemory(),
                TimeUnit.NANOSECONDS.toMillis(core.shards().oldestUnsyncedAgeNanos()));
    }

    @Override
    public CompletionStage<BrokerHealth> health() {
        return parts.directories().describe().thenApply(this::health);
    }

    private BrokerHealth health(List<LogDirectories.Directory> directories) {
        Health health = parts.health().get();
        Runtime runtime = Runtime.getRuntime();
        return new BrokerHealth(
                health.status(),
                ManagementFactory.getRuntimeMXBean().getStartTime(),
                Runtime.version().toString(),
                runtime.totalMemory() - runtime.freeMemory(),
                runtime.maxMemory(),
                PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(),
                parts.network().openConnections(),
                gateway.openConnections(),
                gateway.openStreams(),
                TimeUnit.NANOSECONDS.toMillis(core.shards().oldestUnsyncedAgeNanos()),
                health.offlinePartitionCount(),
                health.offlinePartitions(),
                core.shards().hangingTransactions(),
                parts.cycles().stream().map(LocalBrokerView::loop).toList(),
                syncs(),
                directories.stream()
                        .map(directory -> new Disk(
                                directory.path(),
                                directory.totalBytes(),
                                directory.usableBytes(),
                                directory.partitions().stream()
                                        .mapToLong(LogDirectories.PartitionSize::sizeBytes)
                                        .sum(),
                                directory.partitions().size(),
                                health.offlineDirectories().get(directory.path())))
                        .toList());
    }

    private static LoopHealth loop(LoopCycle cycle) {
        LoopStalls stalls = cycle.stalls();
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < stalls.bucketCount(); i++) {
            long bound = stalls.upperBoundNanos(i);
            buckets.add(new Bucket(
                    bound == Long.MAX_VALUE ? UNKNOWN : TimeUnit.NANOSECONDS.toMicros(bound), stalls.count(i)));
        }
        return new LoopHealth(
                cycle.index(),
                cycle.counters().appendedMessages(),
                cycle.counters().appendedBytes(),
                cycle.counters().fetchedBytes(),
                new Histogram(buckets));
    }

    private Histogram syncs() {
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; parts.syncs() != null && i < SyncTimes.bucketCount(); i++) {
            long bound = SyncTimes.upperBoundMicros(i);
            buckets.add(new Bucket(
                    bound == Long.MAX_VALUE ? UNKNOWN : bound, parts.syncs().count(i)));
        }
        return new Histogram(buckets);
    }

    @Override
    public CompletionStage<List<Long>> ages(List<Position> positions) {
        MetadataImage image = core.metadata();
        Map<Shard, List<Lookup>> byShard = new LinkedHashMap<>();
        List<Lookup> lookups = new ArrayList<>(positions.size());
        for (Position position : positions) {
            TopicImage topic = image.topic(position.topic());
            Lookup lookup = new Lookup(topic, position);
            lookups.add(lookup);
            if (topic != null && topic.hasPartition(position.partition())) {
                byShard.computeIfAbsent(
                                core.shards().shardOf(topic.id(), position.partition()), shard -> new ArrayList<>())
                        .add(lookup);
            }
        }
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        byShard.forEach((shard, some) -> asked.add(shard.cycle().ask(() -> {
            some.forEach(lookup -> lookup.begin(shard));
            return null;
        })));
        long nowMs = parts.epochMs().getAsLong();
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                .thenApplyAsync(
                        done -> lookups.stream()
                                .map(lookup -> lookup.age(nowMs))
                                .toList(),
                        parts.blockingPool());
    }

    /** Looks for the first record at or after a position. */
    private static final class Lookup {
        private final TopicImage topic;
        private final Position position;
        private long offset;
        private TimestampLookup timestamps;
        private boolean atEnd;

        Lookup(TopicImage topic, Position position) {
            this.topic = topic;
            this.position = position;
        }

        /** On the shard's loop. */
        void begin(Shard shard) {
            PartitionHost host = shard.host(topic.id(), position.partition());
            if (host != null) {
                offset = Math.max(position.offset(), host.log().startOffset());
                atEnd = offset >= host.log().highWatermark();
                timestamps = host.log().offsetLookup(false);
            }
        }

        /** Reads the log. */
        long age(long nowMs) {
            if (timestamps == null) {
                return UNKNOWN;
            }
            if (atEnd) {
                return 0;
            }
            try {
                long timestampMs = timestamps.ofBatch(offset);
                return timestampMs < 0 ? 0 : Math.max(0, nowMs - timestampMs);
            } catch (IOException | RuntimeException failure) {
                log.debug("cannot read a timestamp: {}", position, failure);
                return UNKNOWN;
            }
        }
    }
}
