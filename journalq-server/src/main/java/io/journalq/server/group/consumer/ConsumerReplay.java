package io.journalq.server.group.consumer;

import io.journalq.common.protocol.Message;
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

/** Takes records into groups; a group is there while any record of it is. */
final class ConsumerReplay {
    private final SortedMap<String, ConsumerGroup> groups;
    private boolean isLive;

    ConsumerReplay(SortedMap<String, ConsumerGroup> groups) {
        this.groups = groups;
    }

    void onLoaded() {
        isLive = true;
        groups.values().forEach(ConsumerGroup::onLoaded);
    }

    /** Returns whether it was a record of consumer groups. */
    boolean replay(Message key, Message value) {
        if (key instanceof ConsumerGroupMetadataKey of) {
            ConsumerGroupMetadataValue epoch = (ConsumerGroupMetadataValue) value;
            change(of.groupId(), group -> {
                if (epoch == null) {
                    group.clearEpoch();
                } else {
                    group.setEpoch(epoch.epoch(), epoch.metadataHash());
                }
            });
        } else if (key instanceof ConsumerGroupMemberMetadataKey of) {
            MemberMetadata member =
                    value == null ? null : ConsumerRecords.member((ConsumerGroupMemberMetadataValue) value);
            change(of.groupId(), group -> group.putMember(of.memberId(), member));
        } else if (key instanceof ConsumerGroupCurrentMemberAssignmentKey of) {
            CurrentAssignment current =
                    value == null ? null : ConsumerRecords.current((ConsumerGroupCurrentMemberAssignmentValue) value);
            change(of.groupId(), group -> group.putCurrent(of.memberId(), current));
        } else {
            return replayTarget(key, value);
        }
        return true;
    }

    private boolean replayTarget(Message key, Message value) {
        if (key instanceof ConsumerGroupTargetAssignmentMetadataKey of) {
            ConsumerGroupTargetAssignmentMetadataValue epoch = (ConsumerGroupTargetAssignmentMetadataValue) value;
            change(of.groupId(), group -> {
                if (epoch == null) {
                    group.clearAssignmentEpoch();
                } else {
                    group.setAssignmentEpoch(epoch.assignmentEpoch());
                }
            });
        } else if (key instanceof ConsumerGroupTargetAssignmentMemberKey of) {
            Assignment target =
                    value == null ? null : ConsumerRecords.target((ConsumerGroupTargetAssignmentMemberValue) value);
            change(of.groupId(), group -> group.putTarget(of.memberId(), target));
        } else if (key instanceof ConsumerGroupRegularExpressionKey of) {
            ConsumerGroupRegularExpressionValue matched = (ConsumerGroupRegularExpressionValue) value;
            change(
                    of.groupId(),
                    group -> group.putPattern(
                            of.regularExpression(), matched == null ? null : new TreeSet<>(matched.topics())));
        } else {
            return false;
        }
        return true;
    }

    private void change(String groupId, Consumer<ConsumerGroup> change) {
        ConsumerGroup group = groups.computeIfAbsent(groupId, ConsumerGroup::new);
        if (isLive) {
            group.onLoaded();
        }
        change.accept(group);
        if (group.isGone()) {
            groups.remove(groupId);
        }
    }
}
