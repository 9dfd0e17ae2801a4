package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.CoordinatorSettings;
import io.journalq.server.config.ReplicationSettings;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.BlockingWork;
import io.journalq.server.loop.ConcurrencyLimitedExecutor;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.shard.Shard.ShardTimes;
import io.journalq.server.shard.append.AppendResources;
import io.journalq.server.shard.append.OffLoopBatchValidator;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import io.journalq.server.shard.partition.PartitionFiles;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.PartitionHost.PartitionResources;
import io.journalq.server.shard.partition.RecoveredEnd;
import io.journalq.server.shard.partition.ReplicationThrottle;
import io.journalq.server.shard.replica.ReplicaPeers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All shards of the broker, and what they share. Assigns partitions to shards.
 *
 * <p>Any thread, except that {@link #close} must not be called on a loop, and only once.
 */
public final class Shards {
    private static final Logger log = LoggerFactory.getLogger(Shards.class);

    private static final int HAND_OVER_CHECK_MS = 5;

    private final BrokerConfig config;
    private final int nodeId;
    private final Shard[] shards;
    private final PartitionFiles files;
    private final WalSyncers walSyncers;
    private final Executor blockingPool;
    /** Opens partitions, which is mostly work for the processor. */
    private final Executor opening;

    private final OffLoopBatchValidator offLoopValidator;
    private final RetentionClock retentionClock;
    private final OfflinePartitions offlinePartitions = new OfflinePartitions();
    private final TopicTraffic traffic;
    private final SettingsInForce inForce;
    private final ReplicationThrottle.Directions throttles = new ReplicationThrottle.Directions();
    private final LocalPartitions partitions;

    /**
     * Creates one shard without partitions for each loop.
     *
     * @param cycles the loops, by index
     * @param blockingPool runs work that waits for the disk
     * @param lastEnds how the last run ended, by data directory
     * @param producerMemory charged with the producers that partitions remember
     */
    public Shards(
            BrokerConfig config,
            List<LoopCycle> cycles,
            FileStore store,
            Executor blockingPool,
            Clock clock,
            Map<Path, LastEnd> lastEnds,
            MemoryAccount producerMemory) {
        this.config = config;
        this.nodeId = config.get(BrokerSettings.NODE_ID);
        this.inForce = new SettingsInForce(config);
        this.blockingPool = blockingPool;
        this.traffic = new TopicTraffic(config.get(BrokerSettings.METRICS_TOPICS_MAX), cycles.size());
        this.opening = new ConcurrencyLimitedExecutor(blockingPool, cycles.size() + 1);
        this.walSyncers = new WalSyncers(
                store,
                config.dataDirectories(),
                config.get(BrokerSettings.WRITE_AHEAD_MAX_BYTES),
                cycles.size(),
                blockingPool,
                clock);
        this.files = new PartitionFiles(store, config.dataDirectories(), blockingPool, clock, lastEnds, walSyncers);
        this.retentionClock = new RetentionClock(
                store,
                config.dataDirectories().get(0),
                clock,
                cycles.get(0).loop()::nanoTime,
                config.get(BrokerSettings.RETENTION_CLOCK_JUMP_MAX_MS));
        this.shards = new Shard[cycles.size()];
        ShardTimes times = new ShardTimes(
                clock,
                retentionClock,
                config.get(BrokerSettings.RETENTION_CHECK_INTERVAL_MS),
                config.get(BrokerSettings.PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS),
                inForce::producerExpiryMs,
                config.get(CoordinatorSettings.TRANSACTION_MAX_TIMEOUT_MS));
        long maxUnwrittenBytes = config.get(BrokerSettings.UNWRITTEN_MAX_BYTES) / cycles.size();
        // As many as there are loops, so that together they cannot use more of the machine than the loops.
        offLoopValidator = new OffLoopBatchValidator(
                config.get(BrokerSettings.DECOMPRESSION_INLINE_MAX_BYTES), blockingPool, cycles.size(), clock);
        for (LoopCycle cycle : cycles) {
            PartitionResources resources = new PartitionResources(
                    cycle,
                    new AppendResources(cycle, clock, offLoopValidator, maxUnwrittenBytes),
                    new Flusher(cycle, blockingPool),
                    new WalLoopBuffers(walSyncers, cycle),
                    new BlockingWork(blockingPool, cycle.index()),
                    producerMemory,
                    throttles,
                    nodeId);
            shards[cycle.index()] = new Shard(resources, times, offLoopValidator, this::keepTime, offlinePartitions);
        }
        this.partitions = new LocalPartitions(
                nodeId,
                new LocalPartitions.ShardLookup() {
                    @Override
                    public Shard of(Uuid topicId, int partition) {
                        return shardOf(topicId, partition);
                    }

                    @Override
                    public List<Shard> all() {
                        return Shards.this.all();
                    }
                },
                files,
                inForce,
                traffic,
                offlinePartitions,
                opening,
                blockingPool,
                this::throttle);
        throttle();
    }

    private void throttle() {
        throttles.limit(
                inForce.ofBroker().get(ReplicationSettings.LEADER_THROTTLED_RATE),
                inForce.ofBroker().get(ReplicationSettings.FOLLOWER_THROTTLED_RATE),
                shards[0].cycle().loop().nanoTime());
    }

    /** Replicates partitions from and to other brokers. Called before partitions are opened. */
    public void join(ReplicaPeers peers) {
        for (Shard shard : shards) {
            shard.join(peers, new PartitionCuts(partitions, shard, opening));
        }
    }

    /**
     * The shard of a partition: always the same as long as the number of shards is the same. Neighbouring partitions
     * have different shards.
     */
    public Shard shardOf(Uuid topicId, int partition) {
        if (shards.length == 1) {
            return shards[0];
        }
        long bits = topicId.mostSignificantBits() * 31 + topicId.leastSignificantBits();
        return shards[Math.floorMod((int) (bits ^ (bits >>> 32)) + partition, shards.length)];
    }

    /** The partitions that have a replica here. */
    public LocalPartitions partitions() {
        return partitions;
    }

    /** The counters of all topics. */
    public TopicTraffic traffic() {
        return traffic;
    }

    /** The partitions that belong here but cannot be opened. */
    public OfflinePartitions offlinePartitions() {
        return offlinePartitions;
    }

    /**
     * Stops all appends and reads of the partitions in a data directory until a restart. New partitions are created in
     * the other directories. Any thread; may block.
     *
     * @return completed when no more appends are acknowledged
     */
    public CompletableFuture<Void> takeOffline(Path dataDirectory, IOException reason) {
        files.takeOffline(dataDirectory);
        walSyncers.fail(dataDirectory, reason);
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        for (Shard shard : shards) {
            asked.add(shard.cycle().ask(() -> {
                shard.takeOffline(dataDirectory, reason);
                return null;
            }));
        }
        return CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]));
    }

    private void keepTime() {
        if (!files.isOffline(config.dataDirectories().get(0))) {
            retentionClock.saveIfDue();
        }
    }

    /** The time of day for retention, in milliseconds since 1970 UTC. Any thread. */
    public long retentionNowMs() {
        return retentionClock.nowMs();
    }

    /** The same for coordinators: see {@link io.journalq.server.coordinator.RetentionTime}. Any thread. */
    public long retentionTime(long nowMs) {
        return Math.min(nowMs, retentionNowMs());
    }

    /** Whether retention by time waits because the clock is too far ahead. Any thread. */
    public boolean isRetentionWaiting() {
        return retentionClock.isWaiting();
    }

    /**
     * Starts the retention clock from the newest record if it is unknown when the broker last ran. Call it once, when
     * all partitions are open.
     */
    public CompletableFuture<Void> startRetentionClock() {
        if (!retentionClock.isUnknown()) {
            return CompletableFuture.completedFuture(null);
        }
        List<CompletableFuture<Long>> newest = new ArrayList<>();
        for (Shard shard : shards) {
            newest.add(shard.cycle().ask(() -> shard.hosts().stream()
                    .mapToLong(host -> host.journal().newestTimestampMs())
                    .max()
                    .orElse(RetentionClock.UNKNOWN)));
        }
        return CompletableFuture.allOf(newest.toArray(new CompletableFuture<?>[0]))
                .thenRun(() -> retentionClock.startFrom(
                        newest.stream().mapToLong(CompletableFuture::join).max().orElse(RetentionClock.UNKNOWN)));
    }

    /** Number of transactions that are open for longer than allowed, at the last check. Any thread. */
    public long hangingTransactions() {
        long count = 0;
        for (Shard shard : shards) {
            count += shard.hangingTransactions();
        }
        return count;
    }

    /** How long the oldest record that is not durable has been waiting, in nanoseconds. Any thread. */
    public long oldestUnsyncedAgeNanos() {
        long oldest = 0;
        for (Shard shard : shards) {
            oldest = Math.max(oldest, shard.resources().flusher().oldestUnsyncedAgeNanos());
        }
        return oldest;
    }

    /** All shards. */
    public List<Shard> all() {
        return List.of(shards);
    }

    /** The id of this broker. */
    public int nodeId() {
        return nodeId;
    }

    /**
     * Prepares for other leaders, because this broker is about to stop: from now on, its partitions acknowledge only what
     * all in-sync replicas have.
     *
     * @param timeoutMs longest time to wait for these replicas
     * @return completed when they have everything that was acknowledged
     */
    public CompletableFuture<Void> beginHandOver(int timeoutMs) {
        List<CompletableFuture<Void>> prepared = new ArrayList<>();
        for (Shard shard : shards) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            prepared.add(done);
            shard.cycle().execute(() -> {
                shard.hosts().forEach(PartitionHost::beginHandOver);
                long deadlineNanos = shard.cycle().loop().nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
                awaitReplicas(shard, deadlineNanos, done);
            });
        }
        return CompletableFuture.allOf(prepared.toArray(new CompletableFuture<?>[0]));
    }

    private static void awaitReplicas(Shard shard, long deadlineNanos, CompletableFuture<Void> done) {
        Loop loop = shard.cycle().loop();
        if (loop.nanoTime() - deadlineNanos >= 0 || shard.hosts().stream().allMatch(PartitionHost::canHandOver)) {
            done.complete(null);
        } else {
            var unused = loop.schedule(() -> awaitReplicas(shard, deadlineNanos, done), HAND_OVER_CHECK_MS);
        }
    }

    /**
     * Closes every journal cleanly.
     *
     * @return completed when all are closed; with false if one could not be closed, so that its records may be lost
     */
    public CompletableFuture<Boolean> close() {
        CompletableFuture<Void> unchanging = stopReplication().thenCompose(stopped -> partitions.whenUnchanging());
        List<CompletableFuture<Boolean>> closing = new ArrayList<>();
        for (Shard shard : shards) {
            closing.add(unchanging
                    .thenCompose(done -> shard.cycle().ask(shard::close))
                    .thenCompose(this::closeJournals));
        }
        return CompletableFuture.allOf(closing.toArray(new CompletableFuture<?>[0]))
                .handle((all, failure) -> {
                    if (failure != null) {
                        log.error("cannot close every journal", failure);
                    }
                    return failure == null && areAllTrue(closing);
                })
                .thenApplyAsync(
                        clean -> {
                            offLoopValidator.close();
                            retentionClock.nowMs();
                            keepTime();
                            walSyncers.close();
                            return clean;
                        },
                        blockingPool)
                .exceptionally(failure -> {
                    log.error("cannot close the write-ahead files", failure);
                    return false;
                });
    }

    /** No partition begins to be cut after this. */
    private CompletableFuture<Void> stopReplication() {
        List<CompletableFuture<Void>> stopping = new ArrayList<>();
        for (Shard shard : shards) {
            if (shard.isReplicated()) {
                stopping.add(shard.cycle().ask(() -> {
                    shard.stopReplication();
                    return null;
                }));
            }
        }
        return CompletableFuture.allOf(stopping.toArray(new CompletableFuture<?>[0]));
    }

    private CompletableFuture<Boolean> closeJournals(List<PartitionHost> hosts) {
        List<CompletableFuture<Boolean>> closing = new ArrayList<>();
        for (PartitionHost host : hosts) {
            closing.add(CompletableFuture.supplyAsync(host::closeJournal, blockingPool));
        }
        return CompletableFuture.allOf(closing.toArray(new CompletableFuture<?>[0]))
                .thenApply(all -> areAllTrue(closing));
    }

    private static boolean areAllTrue(List<CompletableFuture<Boolean>> completed) {
        return completed.stream().allMatch(CompletableFuture::join);
    }

    /** The disk usage of every partition. */
    public CompletableFuture<List<StoredPartition>> storedPartitions() {
        List<CompletableFuture<List<StoredPartition>>> asked = new ArrayList<>();
        for (Shard shard : shards) {
            asked.add(shard.cycle()
                    .ask(() -> shard.hosts().stream().map(PartitionHost::stored).toList()));
        }
        return CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]))
                .thenApply(all ->
                        asked.stream().flatMap(sizes -> sizes.join().stream()).toList());
    }

    /**
     * The end of every partition that has no other replica, before anything is appended to it. The records of others may
     * be on other brokers.
     */
    public CompletableFuture<Map<TopicPartition, RecoveredEnd>> recoveredEnds() {
        Map<TopicPartition, RecoveredEnd> ends = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        for (Shard shard : shards) {
            asked.add(CompletableFuture.runAsync(
                    () -> shard.hosts().stream()
                            .filter(host -> !host.isReplicated())
                            .forEach(host -> ends.put(host.name(), host.recoveredEnd())),
                    work -> shard.cycle().execute(work)));
        }
        return CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]))
                .thenApply(all -> ends);
    }
}
