package io.journalq.server.api.group;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchRequest.OffsetFetchRequestGroup;
import io.journalq.common.protocol.message.OffsetFetchRequest.OffsetFetchRequestTopics;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponseGroup;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponsePartition;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponsePartitions;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponseTopic;
import io.journalq.common.protocol.message.OffsetFetchResponse.OffsetFetchResponseTopics;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.GroupOffset;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * OffsetFetch, versions 1 to 10: the committed offsets of a group, for given partitions or for all, and of several
 * groups from version 8 (KIP-709). Topics are identified by id in version 10. A client that requests stable offsets
 * gets an error for offsets that an open transaction may still change (KIP-447). A broker that another one has replaced
 * as the coordinator never responds with an old offset, even if it does not know that yet.
 */
public final class OffsetFetchHandler implements Handler<OffsetFetchRequest> {
    private static final short FIRST_BATCHED_VERSION = 8;
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 10;
    private static final int NONE = -1;

    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public OffsetFetchHandler(Coordinators<GroupMachine> groups, Supplier<MetadataImage> images) {
        this.groups = groups;
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.OFFSET_FETCH, 1, 10, AccessRule.asks(Right.DESCRIBE_GROUP, Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, OffsetFetchRequest request) {
        List<OffsetFetchRequestGroup> wanted = context.apiVersion() >= FIRST_BATCHED_VERSION
                ? withAllOffsetsOnce(request.groups())
                : List.of(new OffsetFetchRequestGroup()
                        .setGroupId(request.groupId())
                        .setTopics(topicsOf(request)));
        boolean byId = context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS;
        OrderedResults<OffsetFetchResponseGroup> results =
                new OrderedResults<>(wanted.size(), all -> respond(context, all));
        for (int i = 0; i < wanted.size(); i++) {
            OffsetFetchRequestGroup group = wanted.get(i);
            Lookup lookup = new Lookup(context, group, request.requireStable(), byId, images.get());
            int index = i;
            if (!context.allows(Right.DESCRIBE_GROUP, group.groupId())) {
                results.set(index, lookup.refusal(ErrorCode.GROUP_AUTHORIZATION_FAILED));
                continue;
            }
            groups.submitConfirmed(
                    group.groupId(),
                    (machine, nowMs, replies) -> replies.<OffsetFetchResponseGroup>to(
                                    result -> results.set(index, result),
                                    error -> results.set(index, lookup.refusal(error)))
                            .send(lookup.result(machine)),
                    error -> results.set(index, lookup.refusal(error)));
        }
    }

    /** All offsets of a group are returned once. Otherwise, a short request could fill the heap. */
    private static List<OffsetFetchRequestGroup> withAllOffsetsOnce(List<OffsetFetchRequestGroup> groups) {
        Set<String> seen = new HashSet<>();
        return groups.stream()
                .filter(group -> group.topics() != null || seen.add(group.groupId()))
                .toList();
    }

    private static List<OffsetFetchRequestTopics> topicsOf(OffsetFetchRequest request) {
        if (request.topics() == null) {
            return null;
        }
        return request.topics().stream()
                .map(topic -> new OffsetFetchRequestTopics()
                        .setName(topic.name())
                        .setPartitionIndexes(topic.partitionIndexes()))
                .toList();
    }

    private static void respond(RequestContext context, List<OffsetFetchResponseGroup> results) {
        if (context.apiVersion() >= FIRST_BATCHED_VERSION) {
            context.respond(new OffsetFetchResponse().setGroups(results));
            return;
        }
        OffsetFetchResponseGroup only = results.get(0);
        List<OffsetFetchResponseTopic> topics = new ArrayList<>();
        for (OffsetFetchResponseTopics topic : only.topics()) {
            List<OffsetFetchResponsePartition> partitions = new ArrayList<>();
            for (OffsetFetchResponsePartitions partition : topic.partitions()) {
                // Before version 2, the response had no error for the whole request.
                short error = partition.errorCode() == 0 ? only.errorCode() : partition.errorCode();
                partitions.add(new OffsetFetchResponsePartition()
                        .setPartitionIndex(partition.partitionIndex())
                        .setCommittedOffset(partition.committedOffset())
                        .setCommittedLeaderEpoch(partition.committedLeaderEpoch())
                        .setMetadata(partition.metadata())
                        .setErrorCode(error));
            }
            topics.add(new OffsetFetchResponseTopic().setName(topic.name()).setPartitions(partitions));
        }
        context.respond(new OffsetFetchResponse().setErrorCode(only.errorCode()).setTopics(topics));
    }

    /** The request for one group. */
    private record Lookup(
            RequestContext context,
            OffsetFetchRequestGroup wanted,
            boolean stableOnly,
            boolean byId,
            MetadataImage image) {
        OffsetFetchResponseGroup refusal(ErrorCode error) {
            List<OffsetFetchResponseTopics> topics = new ArrayList<>();
            if (wanted.topics() != null) {
                for (OffsetFetchRequestTopics topic : wanted.topics()) {
                    List<OffsetFetchResponsePartitions> partitions = new ArrayList<>();
                    topic.partitionIndexes().forEach(index -> partitions.add(absent(index)));
                    topics.add(result(topic.name(), topic.topicId(), partitions));
                }
            }
            return new OffsetFetchResponseGroup()
                    .setGroupId(wanted.groupId())
                    .setTopics(topics)
                    .setErrorCode(error.code());
        }

        OffsetFetchResponseGroup result(GroupMachine machine) {
            ErrorCode error = machine.offsets()
                    .checkFetch(
                            wanted.groupId(), wanted.memberId() == null ? "" : wanted.memberId(), wanted.memberEpoch());
            if (error != ErrorCode.NONE) {
                return refusal(error);
            }
            return new OffsetFetchResponseGroup()
                    .setGroupId(wanted.groupId())
                    .setTopics(wanted.topics() == null ? every(machine) : some(machine));
        }

        private List<OffsetFetchResponseTopics> some(GroupMachine machine) {
            List<OffsetFetchResponseTopics> topics = new ArrayList<>();
            for (OffsetFetchRequestTopics topic : wanted.topics()) {
                TopicImage known = byId ? image.topic(topic.topicId()) : null;
                boolean sees = (byId && known == null)
                        || context.sees(Right.DESCRIBE_TOPIC, byId ? known.name() : topic.name());
                List<OffsetFetchResponsePartitions> partitions = new ArrayList<>();
                for (int index : topic.partitionIndexes()) {
                    if (byId && known == null) {
                        partitions.add(absent(index).setErrorCode(ErrorCode.UNKNOWN_TOPIC_ID.code()));
                    } else if (!sees) {
                        partitions.add(absent(index).setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code()));
                    } else {
                        partitions.add(result(machine, byId ? known.name() : topic.name(), index));
                    }
                }
                topics.add(result(topic.name(), topic.topicId(), partitions));
            }
            return topics;
        }

        private List<OffsetFetchResponseTopics> every(GroupMachine machine) {
            Map<String, List<OffsetFetchResponsePartitions>> byTopic = new TreeMap<>();
            machine.offsets().forEach(wanted.groupId(), (topic, partition, offset) -> byTopic.computeIfAbsent(
                            topic, absent -> new ArrayList<>())
                    .add(result(machine, topic, partition)));
            List<OffsetFetchResponseTopics> topics = new ArrayList<>();
            byTopic.forEach((name, partitions) -> {
                TopicImage topic = image.topic(name);
                if ((!byId || topic != null) && context.sees(Right.DESCRIBE_TOPIC, name)) {
                    topics.add(result(name, topic == null ? Uuid.ZERO : topic.id(), partitions));
                }
            });
            return topics;
        }

        private OffsetFetchResponsePartitions result(GroupMachine machine, String topic, int partition) {
            if (stableOnly && machine.offsets().isPending(wanted.groupId(), topic, partition)) {
                return absent(partition).setErrorCode(ErrorCode.UNSTABLE_OFFSET_COMMIT.code());
            }
            GroupOffset offset = machine.offsets().get(wanted.groupId(), topic, partition);
            return offset == null
                    ? absent(partition)
                    : new OffsetFetchResponsePartitions()
                            .setPartitionIndex(partition)
                            .setCommittedOffset(offset.offset())
                            .setCommittedLeaderEpoch(offset.leaderEpoch())
                            .setMetadata(offset.metadata());
        }

        private static OffsetFetchResponsePartitions absent(int partition) {
            return new OffsetFetchResponsePartitions()
                    .setPartitionIndex(partition)
                    .setCommittedOffset(NONE)
                    .setCommittedLeaderEpoch(NONE)
                    .setMetadata("");
        }

        private static OffsetFetchResponseTopics result(
                String name, Uuid id, List<OffsetFetchResponsePartitions> partitions) {
            return new OffsetFetchResponseTopics().setName(name).setTopicId(id).setPartitions(partitions);
        }
    }
}
