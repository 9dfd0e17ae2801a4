package io.journalq.server.group.consumer;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import io.journalq.server.group.consumer.MemberDeadlines.Kind;
import io.journalq.server.group.consumer.MemberDeadlines.Subject;
import io.journalq.server.group.consumer.Reconciliation.Claim;
import io.journalq.server.group.consumer.assignor.Assignor;
import java.util.ArrayList;
import java.util.List;

/**
 * Advances groups of the consumer protocol, for members of either protocol: stores changed metadata, has targets
 * computed, moves a member towards its target, and removes members. One thread: that of the coordinator's host.
 */
final class MemberLifecycle {
    private final ConsumerGroupLimits limits;
    private final Outbox outbox;
    private final TargetUpdater settling;
    private final ClassicTurn classicTurn;
    private final MemberDeadlines deadlines = new MemberDeadlines();
    private Topics topics = Topics.NONE;
    private GroupTimes.Lookup times;

    /** Called when only members of the classic protocol are left in a group. */
    @FunctionalInterface
    public interface ClassicTurn {
        /** Returns whether the group was converted. */
        boolean onClassicMembersOnly(ConsumerGroup group, long nowMs);
    }

    MemberLifecycle(ConsumerGroupLimits limits, Outbox outbox, ClassicTurn classicTurn) {
        this.limits = limits;
        this.outbox = outbox;
        this.settling = new TargetUpdater(limits, outbox, deadlines);
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

    MemberDeadlines deadlines() {
        return deadlines;
    }

    Assignor assignorOf(ConsumerGroup group) {
        return settling.assignorOf(group);
    }

    /**
     * Applies a member's request.
     *
     * @param change records with its changed metadata; may be empty
     * @param claim the partitions that it reports as in use
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
            outbox.append(List.of(ConsumerGroupRecords.current(group.groupId(), memberId, next)));
            // What it may have to revoke now is not what it had to revoke before.
            deadlines.cancel(new Subject(group.groupId(), memberId, Kind.REBALANCE));
        }
        awaitLife(group, memberId, nowMs);
    }

    /** Makes a new assignment for the group if it is needed and due. */
    void settle(ConsumerGroup group, long nowMs) {
        settling.settle(group, topics, timesOf(group).assignmentIntervalMs(), nowMs);
    }

    /** Starts the member's session timeout. */
    void awaitLife(ConsumerGroup group, String memberId, long nowMs) {
        MemberMetadata member = group.member(memberId);
        int timeoutMs = member.isClassic()
                ? member.classic().sessionTimeoutMs()
                : timesOf(group).sessionTimeoutMs();
        deadlines.set(new Subject(group.groupId(), memberId, Kind.SESSION), nowMs + timeoutMs);
    }

    /** Starts the deadline for a member of the consumer protocol to revoke partitions, if it has any to revoke. */
    void awaitRevocation(ConsumerGroup group, String memberId, long nowMs) {
        if (group.current(memberId).state() == State.UNREVOKED_PARTITIONS) {
            awaitOnce(group, memberId, Kind.REBALANCE, nowMs);
        } else {
            deadlines.cancel(new Subject(group.groupId(), memberId, Kind.REBALANCE));
        }
    }

    /** Starts a deadline of the member's rebalance timeout, unless it is already running. */
    void awaitOnce(ConsumerGroup group, String memberId, Kind kind, long nowMs) {
        if (!deadlines.isSet(new Subject(group.groupId(), memberId, kind))) {
            await(group, memberId, kind, nowMs);
        }
    }

    /** Starts a deadline of the member's rebalance timeout. */
    void await(ConsumerGroup group, String memberId, Kind kind, long nowMs) {
        deadlines.set(
                new Subject(group.groupId(), memberId, kind),
                nowMs + group.member(memberId).rebalanceTimeoutMs());
    }

    /** Removes a member. */
    void remove(ConsumerGroup group, String memberId, long nowMs) {
        outbox.append(removal(group, memberId));
        if (!turnClassic(group, nowMs)) {
            settle(group, nowMs);
        }
    }

    /** Requests the conversion to a classic group if only members of that protocol are left. Returns whether it did. */
    boolean turnClassic(ConsumerGroup group, long nowMs) {
        return group.hasClassicMembersOnly()
                && limits.migration().downgrades()
                && classicTurn.onClassicMembersOnly(group, nowMs);
    }

    /** The records that remove a member, whose deadlines end. */
    List<CoordinatorRecord> removal(ConsumerGroup group, String memberId) {
        deadlines.cancelAll(group.groupId(), memberId);
        return ConsumerGroupRecords.withoutMember(group.groupId(), memberId);
    }

    /** The records with which {@code memberId} replaces the static member {@code replaced}. */
    List<CoordinatorRecord> replacement(ConsumerGroup group, String replaced, String memberId) {
        String groupId = group.groupId();
        List<CoordinatorRecord> records = new ArrayList<>(removal(group, replaced));
        records.add(ConsumerGroupRecords.target(groupId, memberId, group.target(replaced)));
        records.add(ConsumerGroupRecords.current(groupId, memberId, group.current(replaced)));
        return records;
    }
}
