package io.journalq.client.internal.membership;

import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Looks up committed offsets. Waits for offsets that an open transaction may change (KIP-447). */
final class CommittedOffsetsRequest extends CoordinatorRequest<OffsetFetchResponse> {
    private static final int NEWEST_VERSION = 9;
    private static final short FIRST_VERSION_BY_GROUP = 8;

    private final String groupId;
    private final Collection<TopicPartition> partitions;

    CommittedOffsetsRequest(String groupId, Collection<TopicPartition> partitions) {
        super(
                ApiKey.OFFSET_FETCH,
                OffsetFetchResponse.class,
                NEWEST_VERSION,
                "lookup of committed offsets of group " + groupId);
        this.groupId = groupId;
        this.partitions = List.copyOf(partitions);
    }

    /** Reads a response. Partitions without a committed offset are missing from the result. Any thread. */
    static Map<TopicPartition, CommittedOffset> read(OffsetFetchResponse response) {
        Map<TopicPartition, CommittedOffset> committed = new LinkedHashMap<>();
        for (OffsetFetchResponse.OffsetFetchResponseGroup group : response.groups()) {
            for (OffsetFetchResponse.OffsetFetchResponseTopics topic : group.topics()) {
                for (OffsetFetchResponse.OffsetFetchResponsePartitions partition : topic.partitions()) {
                    if (partition.committedOffset() >= 0) {
                        String metadata = partition.metadata() == null ? "" : partition.metadata();
                        committed.put(
                                new TopicPartition(topic.name(), partition.partitionIndex()),
                                new CommittedOffset(
                                        partition.committedOffset(), partition.committedLeaderEpoch(), metadata));
                    }
                }
            }
        }
        return committed;
    }

    @Override
    protected ApiMessage request(short version) {
        if (version < FIRST_VERSION_BY_GROUP) {
            throw new UnsupportedByBrokerException(
                    "the broker supports only old versions of OffsetFetch; use a newer broker, or store the offsets in"
                            + " your application");
        }
        Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
        partitions.forEach(partition -> byTopic.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                .add(partition.partition()));
        List<OffsetFetchRequest.OffsetFetchRequestTopics> topics = new ArrayList<>();
        byTopic.forEach((name, indexes) -> topics.add(
                new OffsetFetchRequest.OffsetFetchRequestTopics().setName(name).setPartitionIndexes(indexes)));
        return new OffsetFetchRequest()
                .setRequireStable(true)
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(groupId)
                        .setTopics(topics)));
    }

    @Override
    protected ErrorCode errorOf(OffsetFetchResponse response) {
        for (OffsetFetchResponse.OffsetFetchResponseGroup group : response.groups()) {
            if (group.errorCode() != ErrorCode.NONE.code()) {
                return ErrorCode.of(group.errorCode());
            }
            for (OffsetFetchResponse.OffsetFetchResponseTopics topic : group.topics()) {
                for (OffsetFetchResponse.OffsetFetchResponsePartitions partition : topic.partitions()) {
                    if (partition.errorCode() != ErrorCode.NONE.code()) {
                        return ErrorCode.of(partition.errorCode());
                    }
                }
            }
        }
        return ErrorCode.NONE;
    }
}
