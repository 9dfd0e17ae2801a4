package io.journalq.server.group.consumer;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.Origin;
import io.journalq.server.group.consumer.assignor.Assignment;
import java.util.ArrayList;
import java.util.List;

/** How members of the classic protocol stand in a group of the consumer protocol, there and back. Pure functions. */
final class TakeOver {
    private TakeOver() {}

    /** Whether it is known what the member subscribes to. */
    static boolean isReadable(ClassicSnapshot.Member member) {
        return !member.protocols().isEmpty()
                && EmbeddedProtocol.subscription(member.protocols().get(0).metadata())
                        .isPresent();
    }

    /** The records of a group that has these members, each with what it was assigned, in the epoch of their generation. */
    static List<CoordinatorRecord> records(ClassicSnapshot classic, Topics topics, long nowMs) {
        String groupId = classic.groupId();
        List<CoordinatorRecord> records = new ArrayList<>();
        Assignment taken = Assignment.EMPTY;
        for (ClassicSnapshot.Member member : classic.members()) {
            // Clients assign among themselves: if they gave a partition to two, the first keeps it.
            Assignment assigned =
                    EmbeddedProtocol.assignment(member.assignment(), topics).minus(taken);
            taken = taken.union(assigned);
            CurrentAssignment current = new CurrentAssignment(
                    classic.generation(),
                    classic.generation(),
                    CurrentAssignment.State.STABLE,
                    assigned,
                    Assignment.EMPTY);
            records.add(ConsumerRecords.member(
                    groupId,
                    member.id(),
                    metadata(
                            member.origin(),
                            member.instanceId(),
                            member.rebalanceTimeoutMs(),
                            new MemberMetadata.Classic(member.sessionTimeoutMs(), member.protocols()))));
            records.add(ConsumerRecords.target(groupId, member.id(), assigned));
            records.add(ConsumerRecords.current(groupId, member.id(), current));
        }
        // No set of subscriptions has this hash: what they come to is looked at with the first heartbeat.
        records.add(ConsumerRecords.epoch(groupId, classic.generation(), 0));
        records.add(ConsumerRecords.targetEpoch(groupId, classic.generation(), nowMs));
        return records;
    }

    /** What a member of the classic protocol told, in the terms of the other one. Its preferred protocol is readable. */
    static MemberMetadata metadata(
            Origin origin, String instanceId, int rebalanceTimeoutMs, MemberMetadata.Classic classic) {
        var subscription = EmbeddedProtocol.subscription(
                        classic.protocols().get(0).metadata())
                .orElseThrow();
        return new MemberMetadata(
                instanceId,
                subscription.rackId(),
                origin.clientId(),
                origin.clientHost(),
                subscription.topics(),
                null,
                rebalanceTimeoutMs,
                null,
                classic);
    }

    /** The members of a group that is left to the classic protocol, with what they are to have. */
    static ClassicSnapshot snapshot(ConsumerGroup group, Topics topics) {
        List<ClassicSnapshot.Member> members = new ArrayList<>();
        group.members()
                .forEach((memberId, member) -> members.add(new ClassicSnapshot.Member(
                        memberId,
                        member.instanceId(),
                        new Origin(member.clientId(), member.clientHost()),
                        member.rebalanceTimeoutMs(),
                        member.classic().sessionTimeoutMs(),
                        member.classic().protocols(),
                        EmbeddedProtocol.bytes(
                                group.target(memberId),
                                topics,
                                member.classic().protocols().get(0).metadata()))));
        return new ClassicSnapshot(group.groupId(), group.epoch(), members);
    }
}
