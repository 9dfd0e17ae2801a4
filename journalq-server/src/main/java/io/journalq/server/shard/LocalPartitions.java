package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.PartitionDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.partition.PartitionFiles;
import io.journalq.server.shard.partition.PartitionFiles.RecoveredPartition;
import io.journalq.server.shard.partition.PartitionFiles.WritesNotVoidException;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.PartitionSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that have a replica on this broker. Follows the metadata: opens partitions that get a replica here,
 * closes those that lose it, deletes removed ones, and applies changed settings. The changes of one partition are made
 * one after another.
 *
 * <p>Any thread, except that {@link #open} and {@link #deleteGone} must not be called on a loop, and the first by one
 * thread at a time.
 */
public final class LocalPartitions implements PartitionCuts.Partitions {
    private static final Logger log = LoggerFactory.getLogger(LocalPartitions.class);

    private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

    /** How often it is tried to note in the write-ahead files that a replica has moved, or has come back. */
    private static final int MAX_ATTEMPTS = 20;

    private static final int RETRY_MS = 100;

    private final int nodeId;
    private final ShardLookup shards;
    private final PartitionFiles files;
    private final SettingsInForce inForce;
    private final TopicTraffic traffic;
    private final OfflinePartitions offlinePartitions;
    private final Executor opening;
    private final Executor blockingPool;
    private final Runnable onDefaults;
    private MetadataImage followed = MetadataImage.EMPTY;
    /** Partitions that were opened with less than this replica has acknowledged; null when they are not needed any more. */
    private volatile Map<PartitionKey, Boolean> incomplete = new ConcurrentHashMap<>();
    /**
     * Partitions that are offline because damage keeps their producers' state from being recovered, or because what the
     * write-ahead files have of an earlier replica could not be made void.
     */
    private final Set<PartitionKey> damaged = ConcurrentHashMap.newKeySet();
    /** The last change of each partition that is opening or closing. The next change of the partition waits for it. */
    private final Map<PartitionKey, CompletableFuture<Void>> changing = new ConcurrentHashMap<>();

    /** Which shard a partition belongs to. Any thread. */
    interface ShardLookup {
        Shard of(Uuid topicId, int partition);

        List<Shard> all();
    }

    /**
     * No partition is open yet.
     *
     * @param opening opens partitions
     * @param onDefaults is called when the defaults of settings have changed
     */
    LocalPartitions(
            int nodeId,
            ShardLookup shards,
            PartitionFiles files,
            SettingsInForce inForce,
            TopicTraffic traffic,
            OfflinePartitions offlinePartitions,
            Executor opening,
            Executor blockingPool,
            Runnable onDefaults) {
        this.nodeId = nodeId;
        this.shards = shards;
        this.files = files;
        this.inForce = inForce;
        this.traffic = traffic;
        this.offlinePartitions = offlinePartitions;
        this.opening = opening;
        this.blockingPool = blockingPool;
        this.onDefaults = onDefaults;
    }

    /** Completed when the changes that were begun until now are made. */
    CompletableFuture<Void> whenUnchanging() {
        return CompletableFuture.allOf(changing.values().toArray(new CompletableFuture<?>[0]));
    }

    /**
     * Opens the partitions that get a replica on this broker with a delta, closes those that lose it, and applies its
     * other changes. A partition that cannot be opened is logged and {@linkplain OfflinePartitions offline}. Does not wait:
     * the changes of one partition are applied in order, and different partitions do not wait for each other.
     *
     * @return completed when the added partitions can be appended to and read
     */
    public synchronized CompletableFuture<Void> open(MetadataDelta delta) {
        List<CompletableFuture<Void>> opening = new ArrayList<>();
        boolean defaultsChanged = inForce.follow(delta);
        CompletableFuture<Void> created = createDirectories(delta);
        for (TopicChange change : delta.topics()) {
            if (!change.isRemoval()) {
                apply(change, delta.now(), created, opening);
            }
        }
        if (defaultsChanged) {
            onDefaults.run();
            updateAll(delta.now());
        }
        followed = delta.now();
        return CompletableFuture.allOf(opening.toArray(new CompletableFuture<?>[0]));
    }

    /** Completed when the directories of the partitions that a delta adds are created, or cannot be created together. */
    private CompletableFuture<Void> createDirectories(MetadataDelta delta) {
        Map<Uuid, List<Integer>> added = new TreeMap<>();
        for (TopicChange change : delta.topics()) {
            for (PartitionDelta partition : change.partitions()) {
                int number = partition.number();
                if (isHere(change.now(), number) && !wasHere(change, number)) {
                    added.computeIfAbsent(change.now().id(), none -> new ArrayList<>())
                            .add(number);
                }
            }
        }
        return added.isEmpty()
                ? NOTHING
                : NOTHING.thenRunAsync(() -> files.createDirectories(added), opening)
                        // Each partition tries again.
                        .exceptionally(failure -> null);
    }

    private boolean wasHere(TopicChange change, int partition) {
        return change.before() != null && isHere(change.before(), partition);
    }

    private void apply(
            TopicChange change,
            MetadataImage now,
            CompletableFuture<Void> created,
            List<CompletableFuture<Void>> opening) {
        TopicImage topic = change.now();
        PartitionSettings settings = inForce.of(topic);
        TopicImage before = change.before();
        TopicCounters counters = before == null ? traffic.add(topic.id(), topic.name()) : traffic.of(topic.id());
        for (int partition = 0; partition < topic.partitions().size(); partition++) {
            boolean wasHere = wasHere(change, partition);
            if (isHere(topic, partition)) {
                if (wasHere) {
                    update(topic, partition, settings, leaderLives(before, partition, now));
                } else {
                    opening.add(open(topic, partition, counters, settings, created));
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

    @Override
    public synchronized CompletableFuture<Void> change(
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
                if (isHere(topic, partition)) {
                    update(topic, partition, settings, false);
                }
            }
        }
    }

    /** Whether the leader of a partition in an older image runs, as of a newer one. */
    private static boolean leaderLives(TopicImage before, int partition, MetadataImage now) {
        int leader = before.partitions().get(partition).leader();
        return leader >= 0 && now.liveBroker(leader) != null;
    }

    /** Whether this broker has a replica of a partition. */
    private boolean isHere(TopicImage topic, int partition) {
        return topic.hasPartition(partition)
                && topic.partitions().get(partition).replicas().contains(nodeId);
    }

    /** Deletes the files of a partition that has moved to other brokers while this one did not run. */
    public synchronized void deleteMoved(TopicImage topic, int partition) {
        close(topic, partition);
    }

    /** Deletes the files of a partition whose topic was deleted while this broker did not run. */
    public void deleteRemoved(TopicImage topic, int partition) {
        log.info("deleting a replica of a deleted topic: partition={}-{}", topic.name(), partition);
        blockingPool.execute(() -> deleteFiles(topic.id(), partition, null, false));
    }

    /** Deletes the partitions of removed topics. */
    public synchronized void deleteGone(MetadataDelta delta) {
        for (TopicChange change : delta.topics()) {
            if (change.isRemoval()) {
                delete(change.before().id());
            }
        }
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

    private CompletableFuture<Void> open(
            TopicImage topic,
            int partition,
            TopicCounters counters,
            PartitionSettings settings,
            CompletableFuture<Void> created) {
        PartitionImage state = topic.partitions().get(partition);
        TopicPartition name = new TopicPartition(topic.name(), partition);
        return change(
                new PartitionKey(topic.id(), partition),
                () -> created.thenCompose(unused -> open(topic.id(), name, state, counters, settings)));
    }

    private CompletableFuture<Void> open(
            Uuid topicId,
            TopicPartition name,
            PartitionImage state,
            TopicCounters counters,
            PartitionSettings settings) {
        Shard shard = shards.of(topicId, name.partition());
        return whenOpened(shard, () -> openFiles(name, topicId, settings, state), MAX_ATTEMPTS)
                .thenAcceptAsync(
                        recovered -> {
                            shard.add(
                                    topicId,
                                    name.partition(),
                                    new PartitionHost(
                                            shard.resources(), recovered, counters, settings, replicasOf(state)));
                            offlinePartitions.forget(new PartitionKey(topicId, name.partition()));
                        },
                        shard.cycle()::execute)
                .exceptionally(failure -> {
                    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                    log.error("cannot open: partition={} reason=\"{}\"", name, cause.getMessage(), cause);
                    offlinePartitions.add(topicId, name);
                    return null;
                });
    }

    /**
     * Completed with what {@code open} returns. Write-ahead files without room for a cut soon have some, and a lack of
     * direct memory may end soon, too.
     */
    private CompletableFuture<RecoveredPartition> whenOpened(
            Shard shard, Supplier<RecoveredPartition> open, int attempts) {
        return CompletableFuture.completedFuture(null)
                .thenApplyAsync(unused -> open.get(), opening)
                .exceptionallyCompose(failure -> attempts > 1 && mayPass(failure.getCause())
                        ? later(shard).thenCompose(unused -> whenOpened(shard, open, attempts - 1))
                        : CompletableFuture.failedFuture(failure));
    }

    private static boolean mayPass(Throwable failure) {
        return failure instanceof OutOfMemoryError
                || (failure instanceof UncheckedIOException wrapped
                        && wrapped.getCause() instanceof WritesNotVoidException);
    }

    /** Completed on the loop of a shard after the time between two attempts. */
    private static CompletableFuture<Void> later(Shard shard) {
        CompletableFuture<Void> later = new CompletableFuture<>();
        shard.cycle().execute(() -> shard.cycle().loop().schedule(() -> later.complete(null), RETRY_MS));
        return later;
    }

    /**
     * Closes a partition that has lost its replica here, and deletes its files. The metadata that say so are committed,
     * so that the other replicas have everything that was acknowledged.
     */
    private void close(TopicImage topic, int partition) {
        PartitionKey key = new PartitionKey(topic.id(), partition);
        Shard shard = shards.of(topic.id(), partition);
        var unused = change(key, () -> shard.cycle()
                .ask(() -> shard.remove(topic.id(), partition))
                .thenCompose(host -> whenForgotten(shard, host, MAX_ATTEMPTS))
                .thenAcceptAsync(
                        host -> {
                            log.info("deleting a replica that has moved: partition={}-{}", topic.name(), partition);
                            deleteFiles(topic.id(), partition, host, true);
                        },
                        blockingPool)
                .exceptionally(failure -> {
                    log.error("cannot delete before the next start: partition={}-{}", topic.name(), partition, failure);
                    return null;
                })
                .thenRun(() -> offlinePartitions.forget(key)));
    }

    private static ReplicaSet replicasOf(PartitionImage state) {
        return new ReplicaSet(
                state.leader(),
                state.leaderEpoch(),
                state.partitionEpoch(),
                state.replicas(),
                state.inSyncReplicas(),
                state.eligibleLeaders(),
                state.recoveryEpoch(),
                state.reassignment().adding());
    }

    private RecoveredPartition openFiles(
            TopicPartition name, Uuid topicId, PartitionSettings settings, PartitionImage state) {
        try {
            Map<PartitionKey, Boolean> found = incomplete;
            // Without other replicas, nobody has more.
            boolean checked = found != null && state.replicas().size() > 1;
            boolean isExpected = state.inSyncReplicas().contains(nodeId)
                    || state.eligibleLeaders().contains(nodeId);
            // It may have moved away since, and be back.
            damaged.remove(new PartitionKey(topicId, name.partition()));
            boolean lost = checked && files.findLoss(name, topicId, isExpected);
            RecoveredPartition recovered;
            try {
                recovered = files.open(
                        name,
                        topicId,
                        settings,
                        state.leaderEpoch(),
                        state.replicas().size() == 1);
            } catch (CorruptJournalException damage) {
                if (!canCopyAgain(state, checked)) {
                    damaged.add(new PartitionKey(topicId, name.partition()));
                    throw damage;
                }
                log.error(
                        "cannot read a replica, deleting its files and copying it again: partition={} inSync={}"
                                + " reason=\"{}\"",
                        name,
                        state.inSyncReplicas(),
                        damage.getMessage());
                deleteUnreadable(topicId, name.partition(), checked);
                lost = checked;
                recovered = files.open(name, topicId, settings, state.leaderEpoch(), false);
            }
            Journal journal = recovered.journal();
            if (checked && journal.isMissingRecords()) {
                log.error(
                        "records below the high watermark are missing: partition={} end={} highWatermark={}",
                        name,
                        journal.endOffset(),
                        journal.highWatermark());
                files.noteLoss(topicId, name.partition());
                lost = true;
            }
            if (lost) {
                found.put(new PartitionKey(topicId, name.partition()), true);
            }
            return recovered;
        } catch (IOException failure) {
            if (failure instanceof WritesNotVoidException) {
                // If that is so for longer, the next change of the partition tries again.
                damaged.add(new PartitionKey(topicId, name.partition()));
            }
            throw new UncheckedIOException(failure);
        }
    }

    private void deleteUnreadable(Uuid topicId, int partition, boolean notes) throws IOException {
        try {
            files.deleteUnreadable(topicId, partition, notes);
        } catch (IOException notNow) {
            // The next change of the partition tries again.
            damaged.add(new PartitionKey(topicId, partition));
            throw notNow;
        }
    }

    /**
     * Whether nobody relies on the records of a replica here: others are in sync, and this one is not. An eligible one may
     * lead at any time, unless the controller learns first that it has lost records.
     *
     * @param reported whether a loss is reported before this broker can lead
     */
    private boolean canCopyAgain(PartitionImage state, boolean reported) {
        return !state.inSyncReplicas().isEmpty()
                && !state.inSyncReplicas().contains(nodeId)
                && (reported || !state.eligibleLeaders().contains(nodeId));
    }

    /**
     * The partitions that have lost acknowledged records while this broker did not run, as numbers by topic id. Called once,
     * when the first {@link #open} has completed.
     */
    public Map<Uuid, List<Integer>> takeIncomplete() {
        Map<Uuid, List<Integer>> numbers = new TreeMap<>();
        for (PartitionKey key : incomplete.keySet()) {
            numbers.computeIfAbsent(key.topicId(), none -> new ArrayList<>()).add(key.partition());
        }
        numbers.values().forEach(Collections::sort);
        incomplete = null;
        return numbers;
    }

    /** The controller knows which partitions have lost acknowledged records: those that {@link #takeIncomplete} returned. */
    public CompletableFuture<Void> forgetLosses(Map<Uuid, List<Integer>> numbers) {
        return CompletableFuture.runAsync(
                () -> numbers.forEach((topicId, partitions) -> partitions.forEach(number -> {
                    try {
                        files.forgetLoss(topicId, number);
                    } catch (IOException failure) {
                        throw new UncheckedIOException(failure);
                    }
                })),
                blockingPool);
    }

    /**
     * Completed with a closed partition when no write-ahead file brings its records back, or after some attempts: the files
     * of the partition then make room, and {@link PartitionFiles#open} tries again if it comes back.
     */
    private CompletableFuture<PartitionHost> whenForgotten(Shard shard, PartitionHost host, int attempts) {
        if (host == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<PartitionHost> settled = new CompletableFuture<>();
        shard.cycle().execute(() -> host.replication().whenCuttable(() -> settled.complete(host)));
        return settled.thenComposeAsync(
                closed -> {
                    try {
                        // If the directory is lost, no journal is created in it, and its write-ahead files fail.
                        Path directory = closed.journal().directory();
                        if (!files.isOffline(directory.getParent())) {
                            files.forgetWrites(directory);
                        }
                        return settled;
                    } catch (IOException failure) {
                        if (attempts == 1) {
                            log.warn("its writes cannot be made void: partition={}", closed.name(), failure);
                            return settled;
                        }
                        return later(shard).thenCompose(unused -> whenForgotten(shard, host, attempts - 1));
                    }
                },
                blockingPool);
    }

    private void update(TopicImage topic, int partition, PartitionSettings settings, boolean lastLeaderLives) {
        PartitionKey key = new PartitionKey(topic.id(), partition);
        Shard shard = shards.of(topic.id(), partition);
        PartitionImage state = topic.partitions().get(partition);
        ReplicaSet replicas = replicasOf(state);
        Runnable update = () -> {
            PartitionHost host = shard.host(topic.id(), partition);
            if (host != null) {
                host.update(settings, replicas, lastLeaderLives);
                shard.onReplicas(host);
            }
        };
        boolean copiesAgain = damaged.contains(key) && canCopyAgain(state, false);
        if (!copiesAgain && !changing.containsKey(key)) {
            shard.cycle().execute(update);
            return;
        }
        TopicPartition name = new TopicPartition(topic.name(), partition);
        TopicCounters counters = traffic.of(topic.id());
        // A change that is not done yet may open a damaged replica, too.
        var unused = change(
                key,
                () -> copiesAgain && damaged.remove(key)
                        ? open(topic.id(), name, state, counters, settings)
                        : CompletableFuture.runAsync(update, shard.cycle()::execute)
                                .exceptionally(failure -> {
                                    log.error("cannot update: partition={}", name, failure);
                                    return null;
                                }));
    }

    @Override
    public CompletableFuture<Void> reopen(Uuid topicId, TopicPartition name) {
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
                var unused = change(key, () -> shards.of(topicId, key.partition())
                        .cycle()
                        .ask(() -> shards.of(topicId, key.partition()).remove(topicId, key.partition()))
                        .thenAcceptAsync(host -> deleteFiles(topicId, key.partition(), host, false), blockingPool)
                        .exceptionally(failure -> {
                            log.error("cannot delete: topic={} partition={}", topicId, key.partition(), failure);
                            return null;
                        }));
            }
        }
        for (int partition : offlinePartitions.forget(topicId)) {
            Shard shard = shards.of(topicId, partition);
            // One that is open, but cannot be written, is deleted with the others; one that changes, when that is over.
            if (!changing.containsKey(new PartitionKey(topicId, partition))) {
                shard.cycle().execute(() -> {
                    if (shard.host(topicId, partition) == null) {
                        blockingPool.execute(() -> deleteFiles(topicId, partition, null, false));
                    }
                });
            }
        }
        for (Shard shard : shards.all()) {
            shard.cycle().execute(() -> {
                for (PartitionHost host : shard.remove(topicId)) {
                    int partition = host.name().partition();
                    // Its files may have failed since the topic was forgotten.
                    offlinePartitions.forget(new PartitionKey(topicId, partition));
                    blockingPool.execute(() -> deleteFiles(topicId, partition, host, false));
                }
            });
        }
    }

    /**
     * Deletes the files of a partition that has left its shard. Blocks.
     *
     * @param host null if it was not open
     * @param mayReturn whether the partition can be created here again, which it cannot after the deletion of its
     *     topic
     */
    private void deleteFiles(Uuid topicId, int partition, PartitionHost host, boolean mayReturn) {
        if (host != null) {
            host.deleteJournal();
        }
        if (host == null || host.isOffline()) {
            files.delete(topicId, partition);
        }
        if (!mayReturn) {
            files.forgetDeleted(topicId, partition);
        }
    }
}
