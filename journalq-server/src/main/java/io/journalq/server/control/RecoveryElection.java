package io.journalq.server.control;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.control.ReplicaEnds.LogEnd;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.PartitionDecider;
import io.journalq.server.metadata.PartitionDecider.Recovery;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.LeaderElection;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives leaders to partitions whose last eligible replicas have all lost records, after a power loss of all of them for
 * example. When these replicas are back, asks all live replicas how far they are. The one that has most of the records
 * leads. A partition waits if a replica that was eligible last cannot be read: it may have the most.
 *
 * <p>Called in the terms of this controller only, and by one thread at a time. Responses arrive on any thread.
 */
final class RecoveryElection {
    private static final Logger log = LoggerFactory.getLogger(RecoveryElection.class);
    /** Time between two looks at the partitions without a leader. */
    private static final long CHECK_MS = 200;
    /** Maximum number of partitions in one round. */
    static final int MAX_PARTITIONS = 10_000;

    private static final long NONE_CHECKED = -1;

    private final LongSupplier nowMs;
    private final ReplicaEnds ends;
    private final Function<Function<PartitionDecider, Decision>, CompletableFuture<Outcome>> changes;
    private final int maxPartitions;

    private long nextCheckMs;
    /** Number of waiting partitions before those of the next round: the first ones may wait for long. */
    private int skipped;
    /** The metadata in which no partition waits for a leader. */
    private long settledVersion = NONE_CHECKED;
    /** Completed when the leaders of the last round are elected. */
    private CompletableFuture<?> round = CompletableFuture.completedFuture(null);

    /** A partition that waits for a leader. */
    private record Waiting(TopicImage topic, int number) {
        PartitionImage partition() {
            return topic.partitions().get(number);
        }

        TopicPartition name() {
            return new TopicPartition(topic.name(), number);
        }
    }

    /**
     * Creates an instance.
     *
     * @param nowMs a clock that never goes back
     * @param changes runs a decision, and completes when its records are applied
     * @param maxPartitions maximum number of partitions in one round
     */
    RecoveryElection(
            LongSupplier nowMs,
            ReplicaEnds ends,
            Function<Function<PartitionDecider, Decision>, CompletableFuture<Outcome>> changes,
            int maxPartitions) {
        this.nowMs = nowMs;
        this.ends = ends;
        this.changes = changes;
        this.maxPartitions = maxPartitions;
    }

    /** Called regularly. */
    void onTick(MetadataImage image) {
        if (image.version() == settledVersion || nowMs.getAsLong() < nextCheckMs || !round.isDone()) {
            return;
        }
        nextCheckMs = nowMs.getAsLong() + CHECK_MS;
        List<Waiting> waiting = waiting(image);
        if (waiting.isEmpty()) {
            settledVersion = image.version();
        } else {
            round = compare(image, nextOf(waiting));
        }
    }

    private List<Waiting> nextOf(List<Waiting> waiting) {
        int from = skipped < waiting.size() ? skipped : 0;
        int to = Math.min(from + maxPartitions, waiting.size());
        skipped = to;
        return waiting.subList(from, to);
    }

    private static List<Waiting> waiting(MetadataImage image) {
        List<Waiting> waiting = new ArrayList<>();
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (!partition.hasLeader()
                        && LeaderElection.canRecover(partition, node -> image.liveBroker(node) != null)) {
                    waiting.add(new Waiting(topic, number));
                }
            }
        }
        return waiting;
    }

    private CompletableFuture<?> compare(MetadataImage image, List<Waiting> waiting) {
        Map<Integer, List<TopicPartition>> asked = new TreeMap<>();
        for (Waiting one : waiting) {
            for (int node : one.partition().replicas()) {
                if (image.liveBroker(node) != null) {
                    asked.computeIfAbsent(node, none -> new ArrayList<>()).add(one.name());
                }
            }
        }
        Map<Integer, Long> brokerEpochs = new TreeMap<>();
        Map<Integer, CompletableFuture<Map<TopicPartition, LogEnd>>> responses = new TreeMap<>();
        asked.forEach((node, partitions) -> {
            brokerEpochs.put(node, image.broker(node).epoch());
            responses.put(node, ends.of(node, partitions).exceptionally(failure -> {
                log.debug("the ends of replicas are unknown: broker={}", node, failure);
                return null;
            }));
        });
        return CompletableFuture.allOf(responses.values().toArray(new CompletableFuture<?>[0]))
                .thenCompose(all -> {
                    Map<Integer, Map<TopicPartition, LogEnd>> found = new HashMap<>();
                    responses.forEach((node, response) -> found.put(node, response.join()));
                    List<Recovery> recoveries = elect(waiting, found);
                    return recoveries.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : changes.apply(decider -> decider.recover(recoveries, brokerEpochs));
                });
    }

    /** @param found the ends by broker; null for a live broker that has not responded */
    private static List<Recovery> elect(List<Waiting> waiting, Map<Integer, Map<TopicPartition, LogEnd>> found) {
        List<Recovery> recoveries = new ArrayList<>();
        for (Waiting one : waiting) {
            int leader = longest(one, found);
            if (leader != PartitionImage.NO_LEADER) {
                recoveries.add(new Recovery(
                        one.topic().id(), one.number(), one.partition().partitionEpoch(), leader));
            }
        }
        return recoveries;
    }

    /** The first of the replicas that have most of the records; none if it is not known. */
    private static int longest(Waiting one, Map<Integer, Map<TopicPartition, LogEnd>> found) {
        int longest = PartitionImage.NO_LEADER;
        LogEnd most = null;
        for (int node : one.partition().replicas()) {
            Map<TopicPartition, LogEnd> ofNode = found.get(node);
            LogEnd end = ofNode == null ? null : ofNode.get(one.name());
            boolean isSilent = found.containsKey(node) && ofNode == null;
            boolean mayHaveMost =
                    isSilent || one.partition().lastKnownEligible().contains(node);
            if (end == null && mayHaveMost) {
                log.debug("a partition waits for the end of a replica: partition={} broker={}", one.name(), node);
                return PartitionImage.NO_LEADER;
            }
            if (end != null && (most == null || end.compareTo(most) > 0)) {
                longest = node;
                most = end;
            }
        }
        log.warn(
                "all replicas that were eligible as leaders have lost records; the one with the most leads:"
                        + " partition={} broker={} end={}",
                one.name(),
                longest,
                most);
        return longest;
    }
}
