package io.journalq.server.shard.coordinator.group;

import io.journalq.server.group.CommittedOffsets.GroupTopic;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.TimestampLookup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the committed offsets of groups lie behind the ends of their partitions. Computed in the blocking pool when
 * metrics are read, at most every {@link #MAX_AGE_NANOS}, and never twice at the same time. The event loops look up
 * {@link #STEP_OFFSETS} offsets at a time, so that they serve requests in between.
 *
 * <p>Any thread that may block.
 */
public final class GroupLags {
    private static final Logger log = LoggerFactory.getLogger(GroupLags.class);

    /** Shorter than the usual scrape interval of 15 s, so that each scrape sees new values. */
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How long {@link #current} waits for new values before it returns the old ones, in milliseconds. */
    private static final long MAX_WAIT_MS = 1_000;

    /** How long to wait for an event loop, in milliseconds. */
    private static final long LOOP_TIMEOUT_MS = 5_000;

    /** Number of offsets that an event loop handles in one task: less than a millisecond of work. */
    private static final int STEP_OFFSETS = 1_000;

    /** Maximum number of partitions of all groups, counted once for each group. */
    private static final int MAX_PARTITIONS = 100_000;

    /** Maximum number of timestamps to read. Each may wait for the disk. */
    private static final int MAX_TIMESTAMPS = 10_000;

    private static final long UNKNOWN = -1L;

    private final Coordinators<GroupMachine> groups;
    private final CoordinatorResources resources;
    private final Supplier<MetadataImage> images;
    private final int maxLags;
    private Lags last = new Lags(List.of(), 0);
    private long lastNanos;
    /** Null until the first call. */
    private CompletableFuture<Void> refresh;

    /**
     * The lag of a group in a topic.
     *
     * @param records ends of the partitions minus committed offsets
     * @param lagMs age of the oldest batch that the group has not read, in milliseconds; 0 if it has read all; -1 if
     *     unknown
     */
    public record GroupLag(String group, String topic, long records, long lagMs) {}

    /**
     * The lags of all groups.
     *
     * @param leftOut number of pairs of a group and a topic that are not listed because of a limit
     */
    public record Lags(List<GroupLag> lags, long leftOut) {}

    /**
     * Computes nothing yet.
     *
     * @param images supplies the newest image
     * @param maxLags maximum number of pairs of a group and a topic
     */
    public GroupLags(
            Coordinators<GroupMachine> groups,
            CoordinatorResources resources,
            Supplier<MetadataImage> images,
            int maxLags) {
        this.groups = groups;
        this.resources = resources;
        this.images = images;
        this.maxLags = maxLags;
    }

    /** The newest lags. They are older than {@link #MAX_AGE_NANOS} if a loop or the disk is slow. */
    public Lags current() {
        try {
            refreshIfOld().get(MAX_WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException slow) {
            log.debug("the lags of groups are computed later");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException failure) {
            log.debug("cannot compute the lags of groups", failure);
        }
        synchronized (this) {
            return last;
        }
    }

    private synchronized CompletableFuture<Void> refreshIfOld() {
        boolean isDue = refresh == null || (refresh.isDone() && System.nanoTime() - lastNanos >= MAX_AGE_NANOS);
        if (isDue) {
            try {
                refresh = CompletableFuture.runAsync(this::compute, resources.blockingPool());
            } catch (RejectedExecutionException closed) {
                return CompletableFuture.completedFuture(null);
            }
        }
        return refresh;
    }

    private void compute() {
        Lags computed = null;
        try {
            computed = lags();
        } finally {
            synchronized (this) {
                last = computed == null ? last : computed;
                lastNanos = System.nanoTime();
            }
        }
    }

    private Lags lags() {
        List<GroupTopic> listed = new ArrayList<>();
        long known = maxLags == 0 ? 0 : list(listed);
        Map<Shard, List<Position>> byShard = new LinkedHashMap<>();
        List<Pair> pairs = new ArrayList<>();
        MetadataImage image = images.get();
        for (GroupTopic one : listed) {
            TopicImage topic = image.topic(one.topic());
            if (topic != null) {
                Pair pair = new Pair(one);
                pairs.add(pair);
                one.offsets().forEach((partition, offset) -> byShard.computeIfAbsent(
                                resources.shards().shardOf(topic.id(), partition), none -> new ArrayList<>())
                        .add(new Position(pair, topic, partition, offset)));
            }
        }
        byShard.forEach(GroupLags::findEnds);
        readTimestamps(byShard, resources.clock().millis());
        return new Lags(pairs.stream().map(Pair::lag).toList(), known - listed.size());
    }

    /**
     * Lists the committed offsets up to the limits.
     *
     * @return the number of pairs without limits
     */
    private long list(List<GroupTopic> listed) {
        long known = 0;
        int partitions = 0;
        for (int number = 0; number < groups.count(); number++) {
            GroupTopic after = null;
            boolean more = true;
            while (more) {
                Page page = page(number, after);
                known += after == null ? page.known() : 0;
                for (GroupTopic next : page.topics()) {
                    if (listed.size() < maxLags && partitions + next.offsets().size() <= MAX_PARTITIONS) {
                        listed.add(next);
                        partitions += next.offsets().size();
                    }
                    after = next;
                }
                more = !page.topics().isEmpty() && listed.size() < maxLags && partitions < MAX_PARTITIONS;
            }
        }
        return known;
    }

    /** @param known number of pairs of the coordinator */
    private record Page(List<GroupTopic> topics, int known) {
        static final Page EMPTY = new Page(List.of(), 0);
    }

    /** The groups of a coordinator that is loading are left out. */
    private Page page(int number, GroupTopic after) {
        CompletableFuture<Page> page = new CompletableFuture<>();
        groups.submit(
                number,
                (machine, nowMs, replies) -> page.complete(new Page(
                        machine.offsets().page(after, STEP_OFFSETS),
                        machine.offsets().groupTopicCount())),
                unavailable -> page.complete(Page.EMPTY));
        return page.orTimeout(LOOP_TIMEOUT_MS, TimeUnit.MILLISECONDS).join();
    }

    private static void findEnds(Shard shard, List<Position> positions) {
        for (int from = 0; from < positions.size(); from += STEP_OFFSETS) {
            List<Position> step = positions.subList(from, Math.min(positions.size(), from + STEP_OFFSETS));
            shard.cycle()
                    .ask(() -> {
                        step.forEach(position -> position.findEnd(shard));
                        return null;
                    })
                    .orTimeout(LOOP_TIMEOUT_MS, TimeUnit.MILLISECONDS)
                    .join();
        }
    }

    private static void readTimestamps(Map<Shard, List<Position>> byShard, long nowMs) {
        int read = 0;
        for (List<Position> positions : byShard.values()) {
            for (Position position : positions) {
                if (position.lookup == null) {
                    continue;
                }
                if (read == MAX_TIMESTAMPS) {
                    position.pair.unknown = true;
                } else {
                    read++;
                    position.readTimestamp(nowMs);
                }
            }
        }
    }

    /** A group and a topic. */
    private static final class Pair {
        private final GroupTopic committed;
        private long records;
        private long lagMs;
        /** Whether a partition was not read, so that the largest lag is unknown. */
        private boolean unknown;

        Pair(GroupTopic committed) {
            this.committed = committed;
        }

        GroupLag lag() {
            return new GroupLag(committed.groupId(), committed.topic(), records, unknown ? UNKNOWN : lagMs);
        }
    }

    /** A group and a partition. */
    private static final class Position {
        private final Pair pair;
        private final TopicImage topic;
        private final int partition;
        private final long committed;
        private long nextOffset;
        /** Null if the group has read everything. */
        private TimestampLookup lookup;

        Position(Pair pair, TopicImage topic, int partition, long committed) {
            this.pair = pair;
            this.topic = topic;
            this.partition = partition;
            this.committed = committed;
        }

        /** On the shard's loop. */
        void findEnd(Shard shard) {
            PartitionHost host = shard.host(topic.id(), partition);
            if (host == null) {
                return;
            }
            long end = host.log().highWatermark();
            if (end > committed) {
                pair.records += end - committed;
                nextOffset = Math.max(committed, host.log().startOffset());
                lookup = nextOffset < end ? host.log().offsetLookup(false) : null;
            }
        }

        void readTimestamp(long nowMs) {
            try {
                long timestampMs = lookup.ofBatch(nextOffset);
                // A record that is not yet written is not older than write.interval.ms. One without a timestamp has no
                // age.
                pair.lagMs = Math.max(pair.lagMs, timestampMs < 0 ? 0 : nowMs - timestampMs);
            } catch (IOException | RuntimeException failure) {
                log.debug("cannot read a timestamp: topic={} partition={}", topic.name(), partition, failure);
                pair.unknown = true;
            }
        }
    }
}
