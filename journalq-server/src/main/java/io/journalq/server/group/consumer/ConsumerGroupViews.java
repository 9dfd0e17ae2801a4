package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse.DescribedGroup;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.group.consumer.assignor.Assignment;
import java.util.ArrayList;
import java.util.List;

/** Converts groups and assignments to responses. Pure functions. */
final class ConsumerGroupViews {
    private static final byte CLASSIC_MEMBER = 0;
    private static final byte CONSUMER_MEMBER = 1;

    private ConsumerGroupViews() {}

    static ConsumerGroupHeartbeatResponse.Assignment heartbeatAssignment(Assignment assigned) {
        List<ConsumerGroupHeartbeatResponse.TopicPartitions> topics = new ArrayList<>();
        for (Uuid topicId : assigned.topicIds()) {
            topics.add(new ConsumerGroupHeartbeatResponse.TopicPartitions()
                    .setTopicId(topicId)
                    .setPartitions(assigned.partitions(topicId)));
        }
        return new ConsumerGroupHeartbeatResponse.Assignment().setTopicPartitions(topics);
    }

    static DescribedGroup describe(ConsumerGroup group, String assignorName, Topics topics) {
        List<ConsumerGroupDescribeResponse.Member> members = new ArrayList<>();
        group.members().forEach((memberId, member) -> members.add(describe(group, memberId, member, topics)));
        return new DescribedGroup()
                .setGroupId(group.groupId())
                .setGroupState(group.stateName())
                .setGroupEpoch(group.epoch())
                .setAssignmentEpoch(group.assignmentEpoch())
                .setAssignorName(assignorName)
                .setMembers(members);
    }

    private static ConsumerGroupDescribeResponse.Member describe(
            ConsumerGroup group, String memberId, MemberMetadata member, Topics topics) {
        CurrentAssignment current = group.current(memberId);
        return new ConsumerGroupDescribeResponse.Member()
                .setMemberId(memberId)
                .setInstanceId(member.instanceId())
                .setRackId(member.rackId())
                .setMemberEpoch(current.memberEpoch())
                .setClientId(member.clientId())
                .setClientHost(member.clientHost())
                .setSubscribedTopicNames(member.topicNames())
                .setSubscribedTopicRegex(member.topicRegex())
                .setAssignment(describe(current.assigned(), topics))
                .setTargetAssignment(describe(group.target(memberId), topics))
                .setMemberType(member.isClassic() ? CLASSIC_MEMBER : CONSUMER_MEMBER);
    }

    /** Omits deleted topics, because their names are no longer known. */
    private static ConsumerGroupDescribeResponse.Assignment describe(Assignment assignment, Topics topics) {
        List<ConsumerGroupDescribeResponse.TopicPartitions> described = new ArrayList<>();
        for (Uuid topicId : assignment.topicIds()) {
            Topics.Topic topic = topics.byId(topicId);
            if (topic != null) {
                described.add(new ConsumerGroupDescribeResponse.TopicPartitions()
                        .setTopicId(topicId)
                        .setTopicName(topic.name())
                        .setPartitions(assignment.partitions(topicId)));
            }
        }
        return new ConsumerGroupDescribeResponse.Assignment().setTopicPartitions(described);
    }
}
