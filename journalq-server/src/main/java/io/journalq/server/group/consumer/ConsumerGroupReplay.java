package io.journalq.server.group.consumer;

import io.journalq.common.protocol.Message;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.record.ConsumerGroupCurrentMemberAssignmentKey;
import io.journalq.server.group.record.ConsumerGroupCurrentMemberAssignmentValue;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataKey;
import io.journalq.server.group.record.ConsumerGroupMemberMetadataValue;
import io.journalq.server.group.record.ConsumerGroupMetadataKey;
import io.journalq.server.group.record.ConsumerGroupMetadataValue;
import io.journalq.server.group.record.ConsumerGroupRegularExpressionKey;
import io.journalq.server.group.record.ConsumerGroupRegularExpressionValue;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMemberKey;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMemberValue;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMetadataKey;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMetadataValue;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Applies records to groups. A group exists while it has any record. */
final class ConsumerGroupReplay {
    private final SortedMap<String, ConsumerGroup> groups;
    private boolean isLive;

    ConsumerGroupReplay(SortedMap<String, ConsumerGroup> groups) {
        this.groups = groups;
    }

    void onLoaded() {
        isLive = true;
        groups.values().forEach(ConsumerGroup::onLoaded);
    }

    /** Returns the group's id; null if it is not a record of consumer groups. */
    String replay(Message key, Message value) {
        if (key instanceof ConsumerGroupMetadataKey of) {
            ConsumerGroupMetadataValue epoch = (ConsumerGroupMetadataValue) value;
            return change(of.groupId(), group -> {
                if (epoch == null) {
                    group.clearEpoch();
                } else {
                    group.setEpoch(epoch.epoch(), epoch.metadataHash());
                }
            });
        }
        if (key instanceof ConsumerGroupMemberMetadataKey of) {
            MemberMetadata member =
                    value == null ? null : ConsumerGroupRecords.member((ConsumerGroupMemberMetadataValue) value);
            return change(of.groupId(), group -> group.putMember(of.memberId(), member));
        }
        if (key instanceof ConsumerGroupCurrentMemberAssignmentKey of) {
            CurrentAssignment current = value == null
                    ? null
                    : ConsumerGroupRecords.current((ConsumerGroupCurrentMemberAssignmentValue) value);
            return change(of.groupId(), group -> group.putCurrent(of.memberId(), current));
        }
        return replayTarget(key, value);
    }

    private String replayTarget(Message key, Message value) {
        if (key instanceof ConsumerGroupTargetAssignmentMetadataKey of) {
            ConsumerGroupTargetAssignmentMetadataValue epoch = (ConsumerGroupTargetAssignmentMetadataValue) value;
            return change(of.groupId(), group -> {
                if (epoch == null) {
                    group.clearAssignmentEpoch();
                } else {
                    group.setAssignmentEpoch(epoch.assignmentEpoch(), epoch.assignmentTimestamp());
                }
            });
        }
        if (key instanceof ConsumerGroupTargetAssignmentMemberKey of) {
            Assignment target = value == null
                    ? null
                    : ConsumerGroupRecords.target((ConsumerGroupTargetAssignmentMemberValue) value);
            return change(of.groupId(), group -> group.putTarget(of.memberId(), target));
        }
        if (key instanceof ConsumerGroupRegularExpressionKey of) {
            ConsumerGroupRegularExpressionValue matched = (ConsumerGroupRegularExpressionValue) value;
            return change(
                    of.groupId(),
                    group -> group.putPattern(
                            of.regularExpression(), matched == null ? null : new TreeSet<>(matched.topics())));
        }
        return null;
    }

    private String change(String groupId, Consumer<ConsumerGroup> change) {
        ConsumerGroup group = groups.computeIfAbsent(groupId, ConsumerGroup::new);
        if (isLive) {
            group.onLoaded();
        }
        change.accept(group);
        if (group.isGone()) {
            groups.remove(groupId);
        }
        return groupId;
    }
}
