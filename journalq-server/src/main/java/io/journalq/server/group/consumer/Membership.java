package io.journalq.server.group.consumer;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import io.journalq.server.group.consumer.Deadlines.Kind;
import io.journalq.server.group.consumer.Deadlines.Subject;
import io.journalq.server.group.consumer.Reconciliation.Claim;
import io.journalq.server.group.consumer.assignor.Assignor;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves groups of the consumer protocol on, whichever protocol a member speaks: takes in what it told, has targets
 * computed, walks it towards its own, and lets it go. One thread: that of the coordinator's host.
 */
final class Membership {
    private final ConsumerGroupLimits limits;
    private final Outbox outbox;
    private final Settling settling;
    private final ClassicTurn classicTurn;
    private final Deadlines deadlines = new Deadlines();
    private Topics topics = Topics.NONE;
    private GroupTimes.Lookup times;

    /** Hears that a group is left to members of the classic protocol. */
    @FunctionalInterface
    public interface ClassicTurn {
        void onClassicMembersOnly(ConsumerGroup group, long nowMs);
    }

    Membership(ConsumerGroupLimits limits, Outbox outbox, ClassicTurn classicTurn) {
        this.limits = limits;
        this.outbox = outbox;
        this.settling = new Settling(limits, outbox, deadlines);
        this.classicTurn = classicTurn;
        GroupTimes ofAll = new GroupTimes(limits.heartbeatIntervalMs(), limits.sessionTimeoutMs(), 0);
        this.times = groupId -> ofAll;
    }

    Topics topics() {
        return topics;
    }

    void setTopics(Topics newTopics) {
        topics = newTopics;
    }

    void setTimes(GroupTimes.Lookup newTimes) {
        times = newTimes;
    }

    GroupTimes timesOf(ConsumerGroup group) {
        return times.of(group.groupId());
    }

    Deadlines deadlines() {
        return deadlines;
    }

    Assignor assignorOf(ConsumerGroup group) {
        return settling.assignorOf(group);
    }

    /**
     * A member told something of itself.
     *
     * @param change records of it; may be empty
     * @param claim what it says that it uses
     */
    void update(ConsumerGroup group, String memberId, List<CoordinatorRecord> change, Claim claim, long nowMs) {
        outbox.append(change);
        settle(group, nowMs);
        CurrentAssignment before = group.current(memberId);
        CurrentAssignment next = Reconciliation.next(
                before,
                group.assignmentEpoch(),
                group.target(memberId),
                claim,
                (topicId, partition) -> group.isFreeFor(memberId, topicId, partition));
        if (!next.equals(before)) {
            outbox.append(List.of(ConsumerRecords.current(group.groupId(), memberId, next)));
        }
        awaitLife(group, memberId, nowMs);
    }

    /** Looks whether the group needs another assignment, and makes it when it is due. */
    void settle(ConsumerGroup group, long nowMs) {
        settling.settle(group, topics, timesOf(group).assignmentIntervalMs(), nowMs);
    }

    /** Begins to wait for the member's next sign of life. */
    void awaitLife(ConsumerGroup group, String memberId, long nowMs) {
        MemberMetadata member = group.member(memberId);
        int timeoutMs = member.isClassic()
                ? member.classic().sessionTimeoutMs()
                : timesOf(group).sessionTimeoutMs();
        deadlines.set(new Subject(group.groupId(), memberId, Kind.SESSION), nowMs + timeoutMs);
    }

    /** Begins to wait until the member of the consumer protocol gave up what it was told to, if that is so. */
    void awaitRevocation(ConsumerGroup group, String memberId, long nowMs) {
        if (group.current(memberId).state() == State.UNREVOKED_PARTITIONS) {
            awaitOnce(group, memberId, Kind.REBALANCE, nowMs);
        } else {
            deadlines.cancel(new Subject(group.groupId(), memberId, Kind.REBALANCE));
        }
    }

    /** Begins to wait for the member to do something within its rebalance time-out, unless that is awaited already. */
    void awaitOnce(ConsumerGroup group, String memberId, Kind kind, long nowMs) {
        Subject subject = new Subject(group.groupId(), memberId, kind);
        if (!deadlines.isSet(subject)) {
            deadlines.set(subject, nowMs + group.member(memberId).rebalanceTimeoutMs());
        }
    }

    /** A member is gone. */
    void remove(ConsumerGroup group, String memberId, long nowMs) {
        deadlines.cancelAll(group.groupId(), memberId);
        outbox.append(ConsumerRecords.withoutMember(group.groupId(), memberId));
        if (!turnClassic(group, nowMs)) {
            settle(group, nowMs);
        }
    }

    /** Makes the group classic again if only members of that protocol are left; whether it did. */
    boolean turnClassic(ConsumerGroup group, long nowMs) {
        boolean turns = group.hasClassicMembersOnly() && limits.migration().downgrades();
        if (turns) {
            classicTurn.onClassicMembersOnly(group, nowMs);
        }
        return turns;
    }

    /** The records by which {@code memberId} takes the place of the static member {@code replaced}. */
    List<CoordinatorRecord> replacement(ConsumerGroup group, String replaced, String memberId) {
        String groupId = group.groupId();
        deadlines.cancelAll(groupId, replaced);
        List<CoordinatorRecord> records = new ArrayList<>(ConsumerRecords.withoutMember(groupId, replaced));
        records.add(ConsumerRecords.target(groupId, memberId, group.target(replaced)));
        records.add(ConsumerRecords.current(groupId, memberId, group.current(replaced)));
        return records;
    }
}
