package io.journalq.client.internal.admin;

import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.GroupMemberDescription;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerProtocolAssignment;
import io.journalq.common.protocol.message.DescribeGroupsResponse;
import io.journalq.common.protocol.message.OffsetDeleteResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads responses about groups while their bytes are valid. Stateless. */
final class GroupResponses {
    static final int OFFSET_FETCH_NEWEST = 9;
    private static final short FIRST_OFFSET_FETCH_BY_GROUP = 8;
    private static final int NO_EPOCH = -1;
    private static final Comparator<TopicPartition> BY_NAME =
            Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private GroupResponses() {}

    static GroupDescription read(ConsumerGroupDescribeResponse.DescribedGroup group) {
        List<GroupMemberDescription> members = new ArrayList<>();
        for (ConsumerGroupDescribeResponse.Member member : group.members()) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (ConsumerGroupDescribeResponse.TopicPartitions topic :
                    member.assignment().topicPartitions()) {
                topic.partitions().forEach(index -> partitions.add(new TopicPartition(topic.topicName(), index)));
            }
            partitions.sort(BY_NAME);
            members.add(new GroupMemberDescription(
                    member.memberId(),
                    member.instanceId(),
                    member.clientId(),
                    member.clientHost(),
                    List.copyOf(partitions)));
        }
        return new GroupDescription(
                group.groupId(),
                "consumer",
                group.groupState(),
                group.groupEpoch(),
                group.assignorName(),
                List.copyOf(members));
    }

    static GroupDescription read(DescribeGroupsResponse.DescribedGroup group) {
        boolean ofConsumers = group.protocolType().equals("consumer");
        List<GroupMemberDescription> members = new ArrayList<>();
        for (DescribeGroupsResponse.DescribedGroupMember member : group.members()) {
            members.add(new GroupMemberDescription(
                    member.memberId(),
                    member.groupInstanceId(),
                    member.clientId(),
                    member.clientHost(),
                    ofConsumers ? assignment(member.memberAssignment()) : List.of()));
        }
        return new GroupDescription(
                group.groupId(), "classic", group.groupState(), NO_EPOCH, group.protocolData(), List.copyOf(members));
    }

    /** Returns the partitions of a consumer assignment, or none if the bytes are not a consumer assignment. */
    private static List<TopicPartition> assignment(ByteBuf bytes) {
        if (bytes == null || !bytes.isReadable()) {
            return List.of();
        }
        List<TopicPartition> partitions = new ArrayList<>();
        try {
            MessageReader reader = new MessageReader(bytes);
            short version = reader.readShort();
            if (version < 0) {
                return List.of();
            }
            // Newer versions only append fields.
            short known = (short) Math.min(version, ConsumerProtocolAssignment.HIGHEST_VERSION);
            for (ConsumerProtocolAssignment.TopicPartition topic :
                    ConsumerProtocolAssignment.read(reader, known).assignedPartitions()) {
                topic.partitions().stream()
                        .filter(index -> index >= 0)
                        .forEach(index -> partitions.add(new TopicPartition(topic.topic(), index)));
            }
        } catch (BadFrameException ofAnotherKind) {
            return List.of();
        }
        partitions.sort(BY_NAME);
        return List.copyOf(partitions);
    }

    /** Requests all committed offsets of a group, but none that an open transaction may still change. */
    static ApiMessage offsetFetch(String groupId, short version) {
        if (version < FIRST_OFFSET_FETCH_BY_GROUP) {
            throw new UnsupportedByBrokerException(
                    "the broker supports only old versions of OffsetFetch; use a newer broker to read committed"
                            + " offsets");
        }
        return new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(groupId)
                        .setTopics(null)));
    }

    static Map<TopicPartition, CommittedOffset> read(OffsetFetchResponse response) {
        Map<TopicPartition, CommittedOffset> offsets = new TreeMap<>(BY_NAME);
        for (OffsetFetchResponse.OffsetFetchResponseGroup group : response.groups()) {
            for (OffsetFetchResponse.OffsetFetchResponseTopics topic : group.topics()) {
                for (OffsetFetchResponse.OffsetFetchResponsePartitions partition : topic.partitions()) {
                    if (partition.committedOffset() >= 0) {
                        String metadata = partition.metadata() == null ? "" : partition.metadata();
                        offsets.put(
                                new TopicPartition(topic.name(), partition.partitionIndex()),
                                new CommittedOffset(
                                        partition.committedOffset(), partition.committedLeaderEpoch(), metadata));
                    }
                }
            }
        }
        return offsets;
    }

    static List<Short> errorsOf(OffsetFetchResponse response) {
        List<Short> errors = new ArrayList<>();
        for (OffsetFetchResponse.OffsetFetchResponseGroup group : response.groups()) {
            errors.add(group.errorCode());
            group.topics().stream()
                    .flatMap(topic -> topic.partitions().stream())
                    .forEach(partition -> errors.add(partition.errorCode()));
        }
        return errors;
    }

    static List<Short> errorsOf(OffsetDeleteResponse response) {
        List<Short> errors = new ArrayList<>();
        errors.add(response.errorCode());
        response.topics().stream()
                .flatMap(topic -> topic.partitions().stream())
                .forEach(partition -> errors.add(partition.errorCode()));
        return errors;
    }
}
