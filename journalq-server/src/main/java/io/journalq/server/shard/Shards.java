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
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.Shard.ShardTimes;
import io.journalq.server.shard.append.AppendResources;
import io.journalq.server.shard.append.OffLoopBatchValidator;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import io.journalq.server.shard.partition.PartitionFiles;
import io.journalq.server.shard.partition.PartitionFiles.RecoveredPartition;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.PartitionHost.PartitionResources;
import io.journalq.server.shard.partition.PartitionSettings;
import io.journalq.server.shard.partition.RecoveredEnd;
import io.journalq.server.shard.partition.ReplicationThrottle;
import io.journalq.server.shard.replica.ReplicaPeers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All shards of the broker. Assigns partitions to shards, and updates the shards from the metadata: opens partitions
 * that get a replica here, closes those that lose it, deletes removed ones, and applies changed settings.
 *
 * <p>Any thread, except that {@link #open}, {@link #deleteGone} and {@link #close} must not be called on a loop, and the
 * first and the last by one thread at a time.
 */
public final class Shards {
    private static final Logger log = LoggerFactory.getLogger(Shards.class);

    private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

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
    private MetadataImage followed = MetadataImage.EMPTY;
    private final SettingsInForce inForce;
    private final ReplicationThrottle.Directions throttles = new ReplicationThrottle.Directions();
    /** The last change of each partition that is opening or closing. The next change of the partition waits for it. */
    private final Map<PartitionKey, CompletableFuture<Void>> changing = new ConcurrentHashMap<>();

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
        this.files = new PartitionFiles(store, config.dataDirectories(), blockingPool, clock, lastEnds);
        this.walSyncers = new WalSyncers(
                store,
                config.dataDirectories(),
                config.get(BrokerSettings.WRITE_AHEAD_MAX_BYTES),
                cycles.size(),
                blockingPool,
                clock);
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
        PartitionCuts.Partitions partitions = new PartitionCuts.Partitions() {
            @Override
            public CompletableFuture<Void> change(PartitionKey partition, Supplier<CompletableFuture<Void>> change) {
                return Shards.this.change(partition, change);
            }

            @Override
            public CompletableFuture<Void> reopen(Uuid topicId, TopicPartition name) {
                return Shards.this.reopen(topicId, name);
            }
        };
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

    /**
     * Opens the partitions that get a replica on this broker with a delta, closes those that lose it, and applies its
     * other changes. A partition that cannot be opened is logged and {@link #offlinePartitions offline}. Does not wait:
     * the changes of one partition are applied in order, and different partitions do not wait for each other.
     *
     * @return completed when the added partitions can be appended to and read
     */
    public synchronized CompletableFuture<Void> open(MetadataDelta delta) {
        List<CompletableFuture<Void>> opening = new ArrayList<>();
        boolean defaultsChanged = inForce.follow(delta);
        for (TopicChange change : delta.topics()) {
            if (!change.isRemoval()) {
                apply(change, opening);
            }
        }
        if (defaultsChanged) {
            throttle();
            updateAll(delta.now());
        }
        followed = delta.now();
        return CompletableFuture.allOf(opening.toArray(new CompletableFuture<?>[0]));
    }

    private void apply(TopicChange change, List<CompletableFuture<Void>> opening) {
        TopicImage topic = change.now();
        PartitionSettings settings = inForce.of(topic);
        TopicImage before = change.before();
        TopicCounters counters = before == null ? traffic.add(topic.id(), topic.name()) : traffic.of(topic.id());
        for (int partition = 0; partition < topic.partitions().size(); partition++) {
            boolean wasHere = before != null && isHere(before, partition);
            if (isHere(topic, partition)) {
                if (wasHere) {
                    update(topic, partition, settings);
                } else {
                    opening.add(open(topic, partition, counters, settings));
                }
            } else if (wasHere) {
                close(topic, partition);
            }
        }
    }

    /** Completed when a partition is open or offline, if this broker has a replica of it. Any thread. */
    public CompletableFuture<Void> whenOpen(Uuid topicId, int partition) {
        return changing.getOrDefault(new PartitionKey(topicId, partition), CompletableFuture.completedFuture(null));
    }

    /**
     * Makes a change of a partition after the earlier ones that are not done.
     *
     * @param change its future never fails
     */
    private synchronized CompletableFuture<Void> change(
            PartitionKey partition, Supplier<CompletableFuture<Void>> change) {
        CompletableFuture<Void> before = changing.get(partition);
        CompletableFuture<Void> done = before == null ? change.get() : before.thenCompose(unused -> change.get());
        changing.put(partition, done);
        var unused = done.thenRun(() -> changing.remove(partition, done));
        return done;
    }

    private void updateAll(MetadataImage image) {
        for (TopicImage topic : image.topics()) {
            PartitionSettings settings = inForce.of(topic);
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                update(topic, partition, settings);
            }
        }
    }

    /** Whether this broker has a replica of a partition. */
    private boolean isHere(TopicImage topic, int partition) {
        return topic.hasPartition(partition)
                && topic.partitions().get(partition).replicas().contains(nodeId);
    }

    /** The id of this broker. */
    public int nodeId() {
        return nodeId;
    }

    /** Deletes the files of a partition that has moved to other brokers while this one did not run. */
    public synchronized void deleteMoved(TopicImage topic, int partition) {
        close(topic, partition);
    }

    /** Deletes the partitions of removed topics. */
    public synchronized void deleteGone(MetadataDelta delta) {
        for (TopicChange change : delta.topics()) {
            if (change.isRemoval()) {
                delete(change.before().id());
            }
        }
    }

    /**
     * Closes every journal cleanly.
     *
     * @return completed when all are closed; with false if one could not be closed, so that its records may be lost
     */
    public CompletableFuture<Boolean> close() {
        CompletableFuture<Void> unchanging = stopReplication()
                .thenCompose(
                        stopped -> CompletableFuture.allOf(changing.values().toArray(new CompletableFuture<?>[0])));
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

    /** Number of partitions that the current image assigns to this broker. */
    public synchronized int partitionCount() {
        int count = 0;
        for (TopicImage topic : followed.topics()) {
            for (int partition = 0; partition < topic.partitions().size(); partition++) {
                count += isHere(topic, partition) ? 1 : 0;
            }
        }
        return count;
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

    private CompletableFuture<Void> open(
            TopicImage topic, int partition, TopicCounters counters, PartitionSettings settings) {
        PartitionImage state = topic.partitions().get(partition);
        TopicPartition name = new TopicPartition(topic.name(), partition);
        return change(new PartitionKey(topic.id(), partition), () -> open(topic.id(), name, state, counters, settings));
    }

    private CompletableFuture<Void> open(
            Uuid topicId,
            TopicPartition name,
            PartitionImage state,
            TopicCounters counters,
            PartitionSettings settings) {
        Shard shard = shardOf(topicId, name.partition());
        return CompletableFuture.completedFuture(name)
                .thenApplyAsync(opened -> openFiles(opened, topicId, settings, state), opening)
                .thenAcceptAsync(
                        recovered -> shard.add(
                                topicId,
                                name.partition(),
                                new PartitionHost(shard.resources(), recovered, counters, settings, replicasOf(state))),
                        shard.cycle()::execute)
                .exceptionally(failure -> {
                    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                    log.error("cannot open: partition={} reason=\"{}\"", name, cause.getMessage(), cause);
                    offlinePartitions.add(topicId, name);
                    return null;
                });
    }

    /**
     * Closes a partition that has lost its replica here, and deletes its files. The metadata that say so are committed,
     * so that the other replicas have everything that was acknowledged.
     */
    private void close(TopicImage topic, int partition) {
        PartitionKey key = new PartitionKey(topic.id(), partition);
        Shard shard = shardOf(topic.id(), partition);
        var unused = change(key, () -> shard.cycle()
                .ask(() -> shard.remove(topic.id(), partition))
                .thenAcceptAsync(
                        host -> {
                            log.info("deleting a replica that has moved: partition={}-{}", topic.name(), partition);
                            if (host == null) {
                                files.delete(topic.id(), partition);
                            } else {
                                host.deleteJournal();
                            }
                            offlinePartitions.forget(key);
                        },
                        blockingPool)
                .exceptionally(failure -> {
                    log.error("cannot close: partition={}-{}", topic.name(), partition, failure);
                    return null;
                }));
    }

    private static ReplicaSet replicasOf(PartitionImage state) {
        return new ReplicaSet(
                state.leader(),
                state.leaderEpoch(),
                state.partitionEpoch(),
                state.replicas(),
                state.inSyncReplicas(),
                state.recoveryEpoch(),
                state.reassignment().adding());
    }

    private RecoveredPartition openFiles(
            TopicPartition name, Uuid topicId, PartitionSettings settings, PartitionImage state) {
        try {
            return files.open(
                    name,
                    topicId,
                    settings,
                    state.leaderEpoch(),
                    state.replicas().size() == 1);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void update(TopicImage topic, int partition, PartitionSettings settings) {
        PartitionKey key = new PartitionKey(topic.id(), partition);
        Shard shard = shardOf(topic.id(), partition);
        ReplicaSet replicas = replicasOf(topic.partitions().get(partition));
        Runnable update = () -> {
            PartitionHost host = shard.host(topic.id(), partition);
            if (host != null) {
                host.update(settings, replicas);
                shard.onReplicas(host);
            }
        };
        if (!changing.containsKey(key)) {
            shard.cycle().execute(update);
            return;
        }
        var unused = change(key, () -> CompletableFuture.runAsync(update, shard.cycle()::execute)
                .exceptionally(failure -> {
                    log.error("cannot update: partition={}-{}", topic.name(), partition, failure);
                    return null;
                }));
    }

    /** Opens a partition again, with the newest metadata. */
    private CompletableFuture<Void> reopen(Uuid topicId, TopicPartition name) {
        TopicImage topic;
        PartitionSettings settings;
        synchronized (this) {
            topic = followed.topic(topicId);
            if (topic == null || !isHere(topic, name.partition())) {
                return NOTHING;
            }
            settings = inForce.of(topic);
        }
        return open(topicId, name, topic.partitions().get(name.partition()), traffic.of(topicId), settings);
    }

    private void delete(Uuid topicId) {
        traffic.remove(topicId);
        for (PartitionKey key : List.copyOf(changing.keySet())) {
            if (key.topicId().equals(topicId)) {
                // A partition that is being opened again would otherwise stay.
                var unused = change(key, () -> shardOf(topicId, key.partition())
                        .cycle()
                        .ask(() -> shardOf(topicId, key.partition()).remove(topicId, key.partition()))
                        .thenAcceptAsync(
                                host -> {
                                    if (host == null) {
                                        files.delete(topicId, key.partition());
                                    } else {
                                        host.deleteJournal();
                                    }
                                },
                                blockingPool)
                        .exceptionally(failure -> {
                            log.error("cannot delete: topic={} partition={}", topicId, key.partition(), failure);
                            return null;
                        }));
            }
        }
        for (int partition : offlinePartitions.forget(topicId)) {
            blockingPool.execute(() -> files.delete(topicId, partition));
        }
        for (Shard shard : shards) {
            shard.cycle().execute(() -> {
                for (PartitionHost host : shard.remove(topicId)) {
                    blockingPool.execute(host::deleteJournal);
                }
            });
        }
    }
}
