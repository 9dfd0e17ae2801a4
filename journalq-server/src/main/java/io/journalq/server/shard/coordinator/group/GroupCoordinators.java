package io.journalq.server.shard.coordinator.group;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.CoordinatorSettings;
import io.journalq.server.group.CommittedOffsets;
import io.journalq.server.group.GroupLimits;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.GroupRecords;
import io.journalq.server.group.OffsetTruncation;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.consumer.GroupTimes;
import io.journalq.server.group.consumer.MigrationPolicy;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.group.consumer.assignor.RangeAssignor;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.MemoryPart;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.CoordinatorKind;
import io.journalq.server.shard.coordinator.CoordinatorKind.LoadListener;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.partition.RecoveredEnd;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The group coordinators. Informs them of deleted topics, and of partitions that lost their tails in a crash. Any
 * thread, except that {@link #start} and {@link #open} are called by one thread at a time, which must not be a loop, and
 * {@link #follow} by one thread at a time.
 */
public final class GroupCoordinators {
    private static final Logger log = LoggerFactory.getLogger(GroupCoordinators.class);

    private final BrokerConfig config;
    private final Shards shards;
    private final Coordinators<GroupMachine> coordinators;
    /** Null for a broker that is alone. */
    private final PositionRepair repair;
    /** The topics for machines that are loaded from now on. */
    private volatile Topics topics = Topics.NONE;
    /** An image with every topic that machines may know. */
    private volatile MetadataImage newest = MetadataImage.EMPTY;
    /** The times of groups for machines that are loaded from now on. */
    private volatile GroupTimes.Lookup times;
    /** Where partitions ended when the broker started, by topic and number; null for unknown. */
    private volatile Map<String, RecoveredEnd[]> recoveredEnds = Map.of();
    /** The coordinators of the start. Offsets in others may have been committed on another broker since then. */
    private volatile Set<Integer> ofStart = Set.of();
    /** The coordinator partitions that were loaded since then, and whether their moved-back offsets are safe. */
    private final Map<Integer, Boolean> moves = new ConcurrentHashMap<>();

    /**
     * Creates the coordinators; none is loaded before {@link #start}.
     *
     * @param memory charged with groups and offsets
     * @param ids generates member ids that nobody can guess
     * @param peers asks the leaders of partitions for the ends of leader epochs; null for a broker that is alone
     */
    public GroupCoordinators(
            BrokerConfig config,
            CoordinatorResources resources,
            MemoryBudget memory,
            Supplier<Uuid> ids,
            PeerRequests peers) {
        this.config = config;
        this.shards = resources.shards();
        this.times = new ImageGroupTimes(config, MetadataImage.EMPTY);
        GroupLimits limits = limits(config);
        ConsumerGroupLimits consumerLimits = consumerLimits(config);
        GroupCounts counts = new GroupCounts(config.get(CoordinatorSettings.GROUP_MAX_COUNT));
        MemoryPart ofGroups = memory.part(StatePart.GROUPS);
        MemoryPart ofOffsets = memory.part(StatePart.OFFSETS);
        this.coordinators = new Coordinators<>(
                new CoordinatorKind<>(
                        InternalTopics.GROUPS,
                        GroupRecords.TYPES,
                        (partition, outbox) -> new GroupMachine(
                                limits,
                                consumerLimits,
                                counts.of(partition),
                                new GroupMemory(ofGroups.newAccount(partition), ofOffsets.newAccount(partition)),
                                outbox,
                                resources.shards()::retentionTime,
                                () -> ids.get().toString())),
                resources,
                new LoadListener<>() {
                    @Override
                    public void onLoaded(int partition, GroupMachine machine) {
                        GroupCoordinators.this.onLoaded(partition, machine);
                    }

                    @Override
                    public void onDropped(int partition) {
                        counts.of(partition).set(0);
                        var unused = List.of(ofGroups.newAccount(partition), ofOffsets.newAccount(partition));
                    }
                });
        this.repair = peers == null ? null : new PositionRepair(coordinators, shards, () -> newest, peers);
    }

    private void repairSoon(Shard shard, int partition) {
        if (repair != null) {
            // Later, because the machine has not begun.
            shard.cycle().enqueue(() -> repair.check(partition));
        }
    }

    private static GroupLimits limits(BrokerConfig config) {
        return new GroupLimits(
                config.get(CoordinatorSettings.GROUP_MAX_SIZE),
                config.get(CoordinatorSettings.GROUP_MIN_SESSION_TIMEOUT_MS),
                config.get(CoordinatorSettings.GROUP_MAX_SESSION_TIMEOUT_MS),
                config.get(CoordinatorSettings.GROUP_INITIAL_REBALANCE_DELAY_MS),
                config.get(CoordinatorSettings.OFFSET_METADATA_MAX_BYTES),
                TimeUnit.MINUTES.toMillis(config.get(CoordinatorSettings.OFFSETS_RETENTION_MINUTES)),
                config.get(CoordinatorSettings.OFFSETS_RETENTION_CHECK_INTERVAL_MS));
    }

    private static ConsumerGroupLimits consumerLimits(BrokerConfig config) {
        return new ConsumerGroupLimits(
                config.get(CoordinatorSettings.GROUP_MAX_SIZE),
                config.get(CoordinatorSettings.GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS),
                config.get(CoordinatorSettings.GROUP_CONSUMER_SESSION_TIMEOUT_MS),
                MigrationPolicy.valueOf(config.get(CoordinatorSettings.GROUP_CONSUMER_MIGRATION_POLICY)
                        .toUpperCase(Locale.ROOT)),
                List.of(new UniformAssignor(), new RangeAssignor()));
    }

    public Coordinators<GroupMachine> coordinators() {
        return coordinators;
    }

    /**
     * Loads the coordinators.
     *
     * @param all all metadata, whose partitions are hosted by the shards
     * @param ends the ends of the partitions, before anything is appended to them
     */
    public void start(MetadataDelta all, Map<TopicPartition, RecoveredEnd> ends) {
        recoveredEnds = byTopic(ends);
        MetadataImage image = all.now();
        newest = image;
        topics = new ImageTopics(image);
        times = new ImageGroupTimes(config, image);
        TopicImage topic = image.topic(InternalTopics.GROUPS);
        ofStart = topic == null ? Set.of() : ledHere(topic);
        var unused = coordinators.follow(all);
    }

    private Set<Integer> ledHere(TopicImage topic) {
        return IntStream.range(0, topic.partitions().size())
                .filter(number -> coordinators.isLedHere(topic.partitions().get(number)))
                .boxed()
                .collect(Collectors.toUnmodifiableSet());
    }

    private static Map<String, RecoveredEnd[]> byTopic(Map<TopicPartition, RecoveredEnd> ends) {
        Map<String, RecoveredEnd[]> byTopic = new HashMap<>();
        ends.forEach((partition, end) -> {
            int number = partition.partition();
            RecoveredEnd[] known = byTopic.getOrDefault(partition.topic(), new RecoveredEnd[0]);
            if (number >= known.length) {
                known = Arrays.copyOf(known, Math.max(number + 1, 2 * known.length));
                byTopic.put(partition.topic(), known);
            }
            known[number] = end;
        });
        return byTopic;
    }

    /**
     * Loads the coordinators that a change of the metadata adds, when the shards have opened their partitions. Completed
     * when that is done.
     */
    public CompletableFuture<Void> open(MetadataDelta delta) {
        newest = delta.now();
        return coordinators.follow(delta);
    }

    /** Informs the machines of a change of the metadata, after {@link #open}. */
    public void follow(MetadataDelta delta) {
        MetadataImage now = delta.now();
        if (repair != null) {
            repair.onImage(delta);
        }
        Topics newTopics = new ImageTopics(now);
        topics = newTopics;
        coordinators.submitToAll((machine, nowMs, replies) -> machine.onTopics(newTopics));
        if (delta.changesResources()) {
            GroupTimes.Lookup newTimes = new ImageGroupTimes(config, now);
            times = newTimes;
            coordinators.submitToAll((machine, nowMs, replies) -> machine.onTimes(newTimes));
        }
        if (delta.removesTopics()) {
            coordinators.submitToAll(
                    (machine, nowMs, replies) -> machine.offsets().onTopicsGone((topic, id) -> isGone(now, topic, id)));
        }
    }

    private static boolean isGone(MetadataImage image, String name, Uuid id) {
        TopicImage topic = image.topic(name);
        return topic == null || (!id.equals(Uuid.ZERO) && !topic.id().equals(id));
    }

    private void onLoaded(int partition, GroupMachine machine) {
        machine.onTopics(topics);
        machine.onTimes(times);
        TopicImage own = newest.topic(InternalTopics.GROUPS);
        if (own == null) {
            return; // It is being deleted, and the machine is dropped.
        }
        Shard shard = shards.shardOf(own.id(), partition);
        repairSoon(shard, partition);
        machine.offsets().onGuard(shard.guards().onMarker());
        // A crash may have occurred between the deletion of a topic and the deletion of its offsets.
        MetadataImage image = newest;
        BiPredicate<String, Uuid> gone = (topic, id) -> isGone(image, topic, id);
        CommittedOffsets offsets = machine.offsets();
        boolean first = moves.putIfAbsent(partition, false) == null;
        if (first) {
            offsets.onTopicsGone(gone);
            int moved = machine.offsetTruncation()
                    .moveBack(new Ends(recoveredEnds, !ofStart.contains(partition)), () -> moves.put(partition, true));
            if (moved > 0) {
                log.warn("committed offsets behind the end of their partitions were moved back: offsets={}", moved);
            }
            return;
        }
        // An append failed before this load. Another append would cause another load, and so on.
        offsets.onTopicsGoneInMemory(gone);
        if (!moves.get(partition)) {
            machine.offsetTruncation().moveBackInMemory(new Ends(recoveredEnds, true));
        }
    }

    public CompletableFuture<Void> close() {
        return coordinators.close();
    }

    /**
     * Where partitions ended, by topic and number.
     *
     * @param later whether some offsets may have been committed since then
     */
    private record Ends(Map<String, RecoveredEnd[]> byTopic, boolean later) implements OffsetTruncation.PartitionEnds {
        private static final RecoveredEnd[] NONE = {};

        @Override
        public long endOf(String topic, int partition, int leaderEpoch) {
            return ofTopic(topic).endOf(partition, leaderEpoch);
        }

        @Override
        public OffsetTruncation.TopicEnds ofTopic(String topic) {
            RecoveredEnd[] ends = byTopic.getOrDefault(topic, NONE);
            return (partition, leaderEpoch) -> {
                RecoveredEnd end = partition < 0 || partition >= ends.length ? null : ends[partition];
                if (end == null) {
                    return -1;
                }
                return later ? end.ofOlder(leaderEpoch) : end.of(leaderEpoch);
            };
        }
    }
}
