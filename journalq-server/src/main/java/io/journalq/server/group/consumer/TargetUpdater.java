package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.MemberDeadlines.Subject;
import io.journalq.server.group.consumer.assignor.Assignor;
import io.journalq.server.group.consumer.assignor.Assignor.Subscriber;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Updates a group's resolved patterns, epoch and targets to match its members and topics. The necessary updates follow
 * from the records alone. After a crash between two appends, the next heartbeat therefore completes the update.
 */
final class TargetUpdater {
    private final ConsumerGroupLimits limits;
    private final Outbox outbox;
    private final MemberDeadlines deadlines;

    /** @param deadlines receives an assignment that has to wait */
    TargetUpdater(ConsumerGroupLimits limits, Outbox outbox, MemberDeadlines deadlines) {
        this.limits = limits;
        this.outbox = outbox;
        this.deadlines = deadlines;
    }

    /** @param intervalMs minimum time from one assignment to the next */
    void settle(ConsumerGroup group, Topics topics, int intervalMs, long nowMs) {
        if (!group.isSettledFor(topics)) {
            // One by one: each has the names of all topics that match, and together they may not fit into a batch.
            patterns(group, topics, nowMs).forEach(record -> outbox.append(List.of(record)));
            List<Subscriber> subscribers = group.subscribers(topics);
            SortedMap<Uuid, Integer> partitionCounts = partitionCounts(subscribers, topics);
            long hash = hash(group, partitionCounts);
            if (group.epoch() == 0 || hash != group.subscriptionHash()) {
                outbox.append(List.of(ConsumerGroupRecords.epoch(group.groupId(), group.epoch() + 1, hash)));
            }
            if (group.epoch() > group.assignmentEpoch()) {
                long dueMs = group.assignmentDueMs(intervalMs, nowMs);
                if (dueMs > nowMs) {
                    deadlines.set(Subject.assignment(group.groupId()), dueMs);
                    return;
                }
                outbox.append(targets(group, subscribers, partitionCounts, nowMs));
            }
            group.settle(topics);
        }
    }

    private static List<CoordinatorRecord> patterns(ConsumerGroup group, Topics topics, long nowMs) {
        SortedSet<String> used = new TreeSet<>();
        for (MemberMetadata member : group.members().values()) {
            if (member.topicRegex() != null) {
                used.add(member.topicRegex());
            }
        }
        List<CoordinatorRecord> records = new ArrayList<>();
        for (String pattern : used) {
            SortedSet<String> matches = matches(pattern, topics);
            if (!matches.equals(group.topicNamesByPattern().get(pattern))) {
                records.add(ConsumerGroupRecords.pattern(group.groupId(), pattern, matches, nowMs));
            }
        }
        for (String pattern : group.topicNamesByPattern().keySet()) {
            if (!used.contains(pattern)) {
                records.add(ConsumerGroupRecords.noPattern(group.groupId(), pattern));
            }
        }
        return records;
    }

    private static SortedSet<String> matches(String pattern, Topics topics) {
        try {
            return SubscriptionPattern.compile(pattern).matches(topics.all());
        } catch (IllegalArgumentException e) {
            // The pattern was valid when the member sent it to a release with other limits.
            return new TreeSet<>();
        }
    }

    private static SortedMap<Uuid, Integer> partitionCounts(List<Subscriber> subscribers, Topics topics) {
        SortedMap<Uuid, Integer> counts = new TreeMap<>();
        for (Subscriber subscriber : subscribers) {
            for (Uuid topicId : subscriber.topicIds()) {
                counts.computeIfAbsent(topicId, id -> topics.byId(id).partitionCount());
            }
        }
        return counts;
    }

    /** A sum, so that the order does not matter. */
    private static long hash(ConsumerGroup group, SortedMap<Uuid, Integer> partitionCounts) {
        long[] sum = {1};
        group.members().forEach((memberId, member) -> sum[0] += member.subscriptionHash(memberId));
        partitionCounts.forEach(
                (topicId, count) -> sum[0] += MemberMetadata.finish(MemberMetadata.mix(0, topicId + ":" + count)));
        return sum[0];
    }

    private List<CoordinatorRecord> targets(
            ConsumerGroup group, List<Subscriber> subscribers, SortedMap<Uuid, Integer> partitionCounts, long nowMs) {
        List<CoordinatorRecord> records = new ArrayList<>();
        assignorOf(group).assign(subscribers, partitionCounts).forEach((memberId, target) -> {
            if (!target.equals(group.target(memberId))) {
                records.add(ConsumerGroupRecords.target(group.groupId(), memberId, target));
            }
        });
        records.add(ConsumerGroupRecords.targetEpoch(group.groupId(), group.epoch(), nowMs));
        return records;
    }

    /**
     * The assignor that most members request. If several are equally requested, or none is, the first available one.
     */
    Assignor assignorOf(ConsumerGroup group) {
        SortedMap<String, Integer> votes = new TreeMap<>();
        for (MemberMetadata member : group.members().values()) {
            if (member.serverAssignor() != null) {
                votes.merge(member.serverAssignor(), 1, Integer::sum);
            }
        }
        Assignor chosen = limits.assignors().get(0);
        for (Assignor assignor : limits.assignors()) {
            if (votes.getOrDefault(assignor.assignorName(), 0) > votes.getOrDefault(chosen.assignorName(), 0)) {
                chosen = assignor;
            }
        }
        return chosen;
    }
}
