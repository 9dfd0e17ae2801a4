package io.journalq.server.group.consumer;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.Message;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.record.ConsumerGroupCurrentMemberAssignmentKey;
import io.journalq.server.group.record.ConsumerGroupCurrentMemberAssignmentValue;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataKey;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataValue;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataValue.ClassicMemberMetadata;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataValue.ClassicProtocol;
import io.journalq.server.group.record.ConsumerGroupMetadataKey;
import io.journalq.server.group.record.ConsumerGroupMetadataValue;
import io.journalq.server.group.record.ConsumerGroupRegularExpressionKey;
import io.journalq.server.group.record.ConsumerGroupRegularExpressionValue;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMemberKey;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMemberValue;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMetadataKey;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMetadataValue;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;

/** The record types of consumer groups; formats and type numbers are those of Apache Kafka. */
public final class ConsumerGroupRecords {
    /** The largest allowed value of {@code max.partitions.per.topic}. */
    private static final int MAX_PARTITIONS_PER_TOPIC = 1_000_000;

    private ConsumerGroupRecords() {}

    /** The record types of consumer groups. */
    public static List<RecordTypes.Type> types() {
        return List.of(
                type(
                        3,
                        ConsumerGroupMetadataKey.class,
                        ConsumerGroupMetadataKey::read,
                        ConsumerGroupMetadataValue::read),
                type(
                        5,
                        ConsumerGroupMemberMetadataKey.class,
                        ConsumerGroupMemberMetadataKey::read,
                        ConsumerGroupMemberMetadataValue::read),
                type(
                        6,
                        ConsumerGroupTargetAssignmentMetadataKey.class,
                        ConsumerGroupTargetAssignmentMetadataKey::read,
                        ConsumerGroupTargetAssignmentMetadataValue::read),
                type(
                        7,
                        ConsumerGroupTargetAssignmentMemberKey.class,
                        ConsumerGroupTargetAssignmentMemberKey::read,
                        ConsumerGroupTargetAssignmentMemberValue::read),
                type(
                        8,
                        ConsumerGroupCurrentMemberAssignmentKey.class,
                        ConsumerGroupCurrentMemberAssignmentKey::read,
                        ConsumerGroupCurrentMemberAssignmentValue::read),
                type(
                        16,
                        ConsumerGroupRegularExpressionKey.class,
                        ConsumerGroupRegularExpressionKey::read,
                        ConsumerGroupRegularExpressionValue::read));
    }

    private static RecordTypes.Type type(
            int number, Class<? extends Message> keyClass, RecordTypes.Reader key, RecordTypes.Reader value) {
        return new RecordTypes.Type((short) number, keyClass, key, value, (short) 0);
    }

    static CoordinatorRecord epoch(String groupId, int epoch, long subscriptionHash) {
        return new CoordinatorRecord(
                new ConsumerGroupMetadataKey().setGroupId(groupId),
                new ConsumerGroupMetadataValue().setEpoch(epoch).setMetadataHash(subscriptionHash));
    }

    static CoordinatorRecord noEpoch(String groupId) {
        return CoordinatorRecord.tombstone(new ConsumerGroupMetadataKey().setGroupId(groupId));
    }

    static CoordinatorRecord member(String groupId, String memberId, MemberMetadata member) {
        ConsumerGroupMemberMetadataValue value = new ConsumerGroupMemberMetadataValue()
                .setInstanceId(member.instanceId())
                .setRackId(member.rackId())
                .setClientId(member.clientId())
                .setClientHost(member.clientHost())
                .setSubscribedTopicNames(member.topicNames())
                .setSubscribedTopicRegex(member.topicRegex())
                .setRebalanceTimeoutMs(member.rebalanceTimeoutMs())
                .setServerAssignor(member.serverAssignor());
        if (member.isClassic()) {
            List<ClassicProtocol> protocols = new ArrayList<>();
            member.classic()
                    .protocols()
                    .forEach(protocol -> protocols.add(new ClassicProtocol()
                            .setName(protocol.name())
                            .setMetadata(Unpooled.wrappedBuffer(protocol.metadata()))));
            value.setClassicMemberMetadata(new ClassicMemberMetadata()
                    .setSessionTimeoutMs(member.classic().sessionTimeoutMs())
                    .setSupportedProtocols(protocols));
        }
        return new CoordinatorRecord(memberKey(groupId, memberId), value);
    }

    static MemberMetadata member(ConsumerGroupMemberMetadataValue value) {
        ClassicMemberMetadata told = value.classicMemberMetadata();
        MemberMetadata.Classic classic = null;
        if (told != null) {
            List<ClassicSnapshot.Protocol> protocols = new ArrayList<>();
            told.supportedProtocols()
                    .forEach(protocol -> protocols.add(
                            new ClassicSnapshot.Protocol(protocol.name(), ByteBufUtil.getBytes(protocol.metadata()))));
            classic = new MemberMetadata.Classic(told.sessionTimeoutMs(), protocols);
        }
        return new MemberMetadata(
                value.instanceId(),
                value.rackId(),
                value.clientId(),
                value.clientHost(),
                value.subscribedTopicNames(),
                value.subscribedTopicRegex(),
                value.rebalanceTimeoutMs(),
                value.serverAssignor(),
                classic);
    }

    private static ConsumerGroupMemberMetadataKey memberKey(String groupId, String memberId) {
        return new ConsumerGroupMemberMetadataKey().setGroupId(groupId).setMemberId(memberId);
    }

    static CoordinatorRecord targetEpoch(String groupId, int epoch, long nowMs) {
        return new CoordinatorRecord(
                new ConsumerGroupTargetAssignmentMetadataKey().setGroupId(groupId),
                new ConsumerGroupTargetAssignmentMetadataValue()
                        .setAssignmentEpoch(epoch)
                        .setAssignmentTimestamp(nowMs));
    }

    static CoordinatorRecord noTargetEpoch(String groupId) {
        return CoordinatorRecord.tombstone(new ConsumerGroupTargetAssignmentMetadataKey().setGroupId(groupId));
    }

    static CoordinatorRecord target(String groupId, String memberId, Assignment target) {
        List<ConsumerGroupTargetAssignmentMemberValue.TopicPartition> topics = new ArrayList<>();
        for (var topicId : target.topicIds()) {
            topics.add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                    .setTopicId(topicId)
                    .setPartitions(target.partitions(topicId)));
        }
        return new CoordinatorRecord(
                targetKey(groupId, memberId),
                new ConsumerGroupTargetAssignmentMemberValue().setTopicPartitions(topics));
    }

    static Assignment target(ConsumerGroupTargetAssignmentMemberValue value) {
        Assignment.Builder target = new Assignment.Builder();
        value.topicPartitions().forEach(topic -> topic.partitions()
                .forEach(partition -> target.add(topic.topicId(), possible(partition))));
        return target.build();
    }

    private static ConsumerGroupTargetAssignmentMemberKey targetKey(String groupId, String memberId) {
        return new ConsumerGroupTargetAssignmentMemberKey().setGroupId(groupId).setMemberId(memberId);
    }

    static CoordinatorRecord current(String groupId, String memberId, CurrentAssignment current) {
        return new CoordinatorRecord(
                currentKey(groupId, memberId),
                new ConsumerGroupCurrentMemberAssignmentValue()
                        .setMemberEpoch(current.memberEpoch())
                        .setPreviousMemberEpoch(current.previousMemberEpoch())
                        .setState(current.state().number())
                        .setAssignedPartitions(topicPartitions(current.assigned()))
                        .setPartitionsPendingRevocation(topicPartitions(current.pendingRevocation())));
    }

    static CurrentAssignment current(ConsumerGroupCurrentMemberAssignmentValue value) {
        return new CurrentAssignment(
                value.memberEpoch(),
                value.previousMemberEpoch(),
                State.of(value.state()),
                assignment(value.assignedPartitions()),
                assignment(value.partitionsPendingRevocation()));
    }

    private static ConsumerGroupCurrentMemberAssignmentKey currentKey(String groupId, String memberId) {
        return new ConsumerGroupCurrentMemberAssignmentKey().setGroupId(groupId).setMemberId(memberId);
    }

    private static List<ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions> topicPartitions(
            Assignment assignment) {
        List<ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions> topics = new ArrayList<>();
        for (var topicId : assignment.topicIds()) {
            topics.add(new ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions()
                    .setTopicId(topicId)
                    .setPartitions(assignment.partitions(topicId)));
        }
        return topics;
    }

    private static Assignment assignment(List<ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions> topics) {
        Assignment.Builder assignment = new Assignment.Builder();
        topics.forEach(
                topic -> topic.partitions().forEach(partition -> assignment.add(topic.topicId(), possible(partition))));
        return assignment.build();
    }

    /** Checks a partition number. Memory use is proportional to the number, so a damaged one must be rejected. */
    private static int possible(int partition) {
        if (partition < 0 || partition >= MAX_PARTITIONS_PER_TOPIC) {
            throw new BadFrameException("impossible partition number " + partition);
        }
        return partition;
    }

    /** The records that delete a member. */
    static List<CoordinatorRecord> withoutMember(String groupId, String memberId) {
        return List.of(
                CoordinatorRecord.tombstone(currentKey(groupId, memberId)),
                CoordinatorRecord.tombstone(targetKey(groupId, memberId)),
                CoordinatorRecord.tombstone(memberKey(groupId, memberId)));
    }

    static CoordinatorRecord pattern(String groupId, String pattern, SortedSet<String> topicNames, long nowMs) {
        return new CoordinatorRecord(
                patternKey(groupId, pattern),
                new ConsumerGroupRegularExpressionValue()
                        .setTopics(List.copyOf(topicNames))
                        .setTimestamp(nowMs));
    }

    static CoordinatorRecord noPattern(String groupId, String pattern) {
        return CoordinatorRecord.tombstone(patternKey(groupId, pattern));
    }

    private static ConsumerGroupRegularExpressionKey patternKey(String groupId, String pattern) {
        return new ConsumerGroupRegularExpressionKey().setGroupId(groupId).setRegularExpression(pattern);
    }
}
