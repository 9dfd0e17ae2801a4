package io.journalq.server.group.consumer;

import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.model.Group.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Converts members of the classic protocol to members of a consumer protocol group and back. Pure functions. */
final class GroupProtocolMigration {
    private GroupProtocolMigration() {}

    /** Whether the member's subscription can be decoded. */
    static boolean isReadable(ClassicSnapshot.Member member) {
        return !member.protocols().isEmpty()
                && EmbeddedProtocol.subscription(member.protocols().get(0).metadata())
                        .isPresent();
    }

    /**
     * The records of a group with these members, in the epoch of their generation. Each member keeps its assignment.
     * Until it joins again, it also keeps the partitions that it reported as owned when it last joined, because it may
     * not have revoked them yet.
     */
    static List<CoordinatorRecord> records(ClassicSnapshot classic, Topics topics, long nowMs) {
        String groupId = classic.groupId();
        Map<String, Assignment> assigned = assigned(classic, topics);
        Assignment taken = assigned.values().stream().reduce(Assignment.EMPTY, Assignment::union);
        List<CoordinatorRecord> records = new ArrayList<>();
        for (ClassicSnapshot.Member member : classic.members()) {
            MemberMetadata.Classic told = new MemberMetadata.Classic(member.sessionTimeoutMs(), member.protocols());
            Assignment target = assigned.get(member.id());
            Assignment stillUsed =
                    EmbeddedProtocol.owned(subscription(told), topics).minus(taken);
            taken = taken.union(stillUsed);
            CurrentAssignment current = new CurrentAssignment(
                    classic.generation(),
                    classic.generation(),
                    CurrentAssignment.State.STABLE,
                    target.union(stillUsed),
                    Assignment.EMPTY);
            MemberMetadata metadata = metadata(member.origin(), member.instanceId(), member.rebalanceTimeoutMs(), told);
            records.add(ConsumerGroupRecords.member(groupId, member.id(), metadata));
            records.add(ConsumerGroupRecords.target(groupId, member.id(), target));
            records.add(ConsumerGroupRecords.current(groupId, member.id(), current));
        }
        // No subscription has this hash, so the first heartbeat evaluates the subscriptions.
        records.add(ConsumerGroupRecords.epoch(groupId, classic.generation(), 0));
        records.add(ConsumerGroupRecords.targetEpoch(groupId, classic.generation(), nowMs));
        return records;
    }

    /**
     * The assignment of each member. Clients assign partitions themselves: if they gave a partition to two members, the
     * first one keeps it.
     */
    private static Map<String, Assignment> assigned(ClassicSnapshot classic, Topics topics) {
        Map<String, Assignment> assigned = new TreeMap<>();
        Assignment taken = Assignment.EMPTY;
        for (ClassicSnapshot.Member member : classic.members()) {
            Assignment own =
                    EmbeddedProtocol.assignment(member.assignment(), topics).minus(taken);
            taken = taken.union(own);
            assigned.put(member.id(), own);
        }
        return assigned;
    }

    private static ConsumerProtocolSubscription subscription(MemberMetadata.Classic classic) {
        return EmbeddedProtocol.subscription(classic.protocols().get(0).metadata())
                .orElseThrow();
    }

    /**
     * The metadata of a member of the classic protocol, converted. The metadata of its preferred protocol is readable.
     */
    static MemberMetadata metadata(
            Origin origin, String instanceId, int rebalanceTimeoutMs, MemberMetadata.Classic classic) {
        ConsumerProtocolSubscription subscription = subscription(classic);
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

    /**
     * The members of a group that is converted to the classic protocol, with all partitions that they may still use.
     */
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
                                group.current(memberId).owned(),
                                topics,
                                member.classic().protocols().get(0).metadata()))));
        return new ClassicSnapshot(group.groupId(), group.epoch(), members);
    }
}
