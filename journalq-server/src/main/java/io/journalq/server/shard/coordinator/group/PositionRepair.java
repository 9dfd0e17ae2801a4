package io.journalq.server.shard.coordinator.group;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.OffsetTruncation.PartitionEpoch;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves committed offsets back after an election that lost records, in a cluster. An offset behind the end of its leader
 * epoch would otherwise skip records that are appended now. The leader of the partition, which can be another broker,
 * knows where each epoch ends. Asks it again until it responds. Any thread.
 */
final class PositionRepair {
    private static final Logger log = LoggerFactory.getLogger(PositionRepair.class);

    private static final int REQUEST_VERSION = 4;
    private static final int REQUEST_TIMEOUT_MS = 5_000;
    private static final long RETRY_DELAY_MS = 1_000;
    private static final long UNKNOWN = -1L;

    private final Coordinators<GroupMachine> groups;
    private final Shards shards;
    private final Supplier<MetadataImage> images;
    private final PeerRequests peers;

    /** @param images supplies the newest image */
    PositionRepair(
            Coordinators<GroupMachine> groups, Shards shards, Supplier<MetadataImage> images, PeerRequests peers) {
        this.groups = groups;
        this.shards = shards;
        this.images = images;
        this.peers = peers;
    }

    /** The metadata have changed. */
    void onImage(MetadataDelta delta) {
        if (delta.topics().stream().anyMatch(PositionRepair::hasLostRecords)) {
            for (int coordinator = 0; coordinator < groups.count(); coordinator++) {
                check(coordinator);
            }
        }
    }

    private static boolean hasLostRecords(TopicChange change) {
        return change.partitions().stream()
                .anyMatch(partition -> partition.now().recoveryEpoch()
                        > (partition.before() == null ? -1 : partition.before().recoveryEpoch()));
    }

    /** Checks the offsets of a coordinator, if it is loaded. Others are checked when they are. */
    void check(int coordinator) {
        groups.submit(
                coordinator,
                (machine, nowMs, replies) -> {
                    MetadataImage image = images.get();
                    List<PartitionEpoch> old =
                            machine.offsetTruncation().olderThan(topic -> recoveryEpochs(image, topic));
                    if (!old.isEmpty()) {
                        ask(coordinator, image, old);
                    }
                },
                notHere -> {});
    }

    /** The recovery epochs of a topic by partition, -1 for none; null if it has lost no records. */
    private static IntUnaryOperator recoveryEpochs(MetadataImage image, String name) {
        TopicImage topic = image.topic(name);
        boolean lost =
                topic != null && topic.partitions().stream().anyMatch(partition -> partition.recoveryEpoch() >= 0);
        return lost
                ? partition -> topic.hasPartition(partition)
                        ? topic.partitions().get(partition).recoveryEpoch()
                        : PartitionImage.NO_RECOVERY
                : null;
    }

    private void ask(int coordinator, MetadataImage image, List<PartitionEpoch> old) {
        Map<Integer, List<PartitionEpoch>> byLeader = new TreeMap<>();
        for (PartitionEpoch one : old) {
            byLeader.computeIfAbsent(stateOf(image, one).leader(), broker -> new ArrayList<>())
                    .add(one);
        }
        Map<PartitionEpoch, Long> ends = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        byLeader.forEach((leader, partitions) -> asked.add(
                leader == shards.nodeId()
                        ? askHere(image, partitions, ends)
                        : askThere(leader, image, partitions, ends)));
        var unused = CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]))
                .whenComplete((all, failure) -> {
                    moveBack(coordinator, ends);
                    if (failure != null || ends.size() < old.size()) {
                        log.debug("the ends of some leader epochs are unknown yet", failure);
                        peers.later(() -> check(coordinator), RETRY_DELAY_MS);
                    }
                });
    }

    private static PartitionImage stateOf(MetadataImage image, PartitionEpoch one) {
        return image.topic(one.topic()).partitions().get(one.partition());
    }

    private CompletableFuture<Void> askHere(
            MetadataImage image, List<PartitionEpoch> partitions, Map<PartitionEpoch, Long> ends) {
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        for (PartitionEpoch one : partitions) {
            TopicImage topic = image.topic(one.topic());
            Shard shard = shards.shardOf(topic.id(), one.partition());
            asked.add(shard.cycle().ask(() -> {
                PartitionHost host = shard.host(topic.id(), one.partition());
                if (host != null && host.checkLeaderEpoch(stateOf(image, one).leaderEpoch()) == ErrorCode.NONE) {
                    Journal journal = host.journal();
                    EpochEndOffset end = journal.epochs().endOffsetOf(one.epoch(), journal.writtenOffset());
                    ends.put(one, end.endOffset());
                }
                return null;
            }));
        }
        return CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]));
    }

    private CompletableFuture<Void> askThere(
            int leader, MetadataImage image, List<PartitionEpoch> partitions, Map<PartitionEpoch, Long> ends) {
        if (leader < 0) {
            return CompletableFuture.completedFuture(null);
        }
        OffsetForLeaderEpochRequest request = new OffsetForLeaderEpochRequest()
                .setReplicaId(shards.nodeId())
                .setTopics(partitions.stream()
                        .map(one -> new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                                .setTopic(one.topic())
                                .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                        .setPartition(one.partition())
                                        .setCurrentLeaderEpoch(
                                                stateOf(image, one).leaderEpoch())
                                        .setLeaderEpoch(one.epoch()))))
                        .toList());
        return peers.send(leader, request, REQUEST_VERSION, REQUEST_TIMEOUT_MS)
                .thenAccept(response -> take(response, partitions, ends));
    }

    /** The responses are in the order of the questions. */
    private static void take(ApiMessage response, List<PartitionEpoch> partitions, Map<PartitionEpoch, Long> ends) {
        List<OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult> topics =
                ((OffsetForLeaderEpochResponse) response).topics();
        if (topics.size() != partitions.size()) {
            throw new CompletionException(new IllegalStateException("a leader has responded to another request"));
        }
        for (int i = 0; i < topics.size(); i++) {
            OffsetForLeaderEpochResponse.EpochEndOffset end =
                    topics.get(i).partitions().get(0);
            if (end.errorCode() == ErrorCode.NONE.code()) {
                ends.put(partitions.get(i), end.endOffset());
            }
        }
    }

    private void moveBack(int coordinator, Map<PartitionEpoch, Long> ends) {
        if (ends.isEmpty()) {
            return;
        }
        groups.submit(
                coordinator,
                (machine, nowMs, replies) -> {
                    int moved = machine.offsetTruncation()
                            .moveBack(
                                    (topic, partition, epoch) ->
                                            ends.getOrDefault(new PartitionEpoch(topic, partition, epoch), UNKNOWN),
                                    () -> {});
                    if (moved > 0) {
                        log.warn(
                                "committed offsets behind records that their partitions have lost were moved back:"
                                        + " offsets={}",
                                moved);
                    }
                },
                notHere -> {});
    }
}
