package io.journalq.server.group.consumer;

import io.journalq.common.check.Check;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.consumer.assignor.Assignor.Subscriber;
import io.journalq.server.group.model.Group;
import io.journalq.server.group.model.GroupSize;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A group of the consumer protocol as its records have it. Records may come in any order while loading; whatever follows
 * from several of them is derived after. Changed by {@link ConsumerGroups} only, on its thread.
 */
public final class ConsumerGroup implements Group {
    private final String groupId;
    private final GroupSize size = new GroupSize();
    private final SortedMap<String, MemberMetadata> members = new TreeMap<>();
    private final SortedMap<String, CurrentAssignment> currents = new TreeMap<>();
    private final SortedMap<String, Assignment> targets = new TreeMap<>();
    private final SortedMap<String, SortedSet<String>> topicNamesByPattern = new TreeMap<>();
    private final SortedMap<String, String> memberByInstance = new TreeMap<>();
    private final SortedMap<Uuid, SortedMap<Integer, String>> owners = new TreeMap<>();
    /** Whether two members held the same partition when the group was loaded: one of them gives up what it did not own. */
    private boolean hasContested;

    private boolean hasEpoch;
    private int epoch;
    private long subscriptionHash;
    private boolean hasAssignmentEpoch;
    private int assignmentEpoch;
    private long assignedAtMs;
    private int classicMemberCount;
    private boolean isLive;
    /** The topics for which the epoch and the target were last looked at; null when something changed since. */
    private Topics settledFor;

    ConsumerGroup(String groupId) {
        this.groupId = groupId;
    }

    // What records change.

    void setEpoch(int newEpoch, long newSubscriptionHash) {
        hasEpoch = true;
        epoch = newEpoch;
        subscriptionHash = newSubscriptionHash;
    }

    void clearEpoch() {
        hasEpoch = false;
        epoch = 0;
        subscriptionHash = 0;
    }

    void setAssignmentEpoch(int newEpoch, long atMs) {
        hasAssignmentEpoch = true;
        assignedAtMs = atMs;
        assignmentEpoch = newEpoch;
    }

    void clearAssignmentEpoch() {
        hasAssignmentEpoch = false;
        assignmentEpoch = 0;
    }

    /** Null removes, here and below. */
    void putMember(String memberId, MemberMetadata member) {
        settledFor = null;
        MemberMetadata before = member == null ? members.remove(memberId) : members.put(memberId, member);
        size.add(sizeOf(memberId, member) - sizeOf(memberId, before));
        classicMemberCount += (isClassic(member) ? 1 : 0) - (isClassic(before) ? 1 : 0);
        if (before != null && before.instanceId() != null) {
            memberByInstance.remove(before.instanceId(), memberId);
        }
        if (member != null && member.instanceId() != null) {
            memberByInstance.put(member.instanceId(), memberId);
        }
    }

    private static boolean isClassic(MemberMetadata member) {
        return member != null && member.isClassic();
    }

    void putCurrent(String memberId, CurrentAssignment current) {
        CurrentAssignment before = current == null ? currents.remove(memberId) : currents.put(memberId, current);
        size.add(sizeOf(current) - sizeOf(before));
        if (isLive) {
            if (before != null) {
                release(memberId, before.owned());
            }
            if (current != null) {
                take(memberId, current.owned());
            }
        }
    }

    void putTarget(String memberId, Assignment target) {
        Assignment before = target == null ? targets.remove(memberId) : targets.put(memberId, target);
        size.add(sizeOfTarget(target) - sizeOfTarget(before));
    }

    private static long sizeOf(String memberId, MemberMetadata member) {
        return member == null ? 0 : GroupSize.MEMBER_BYTES + GroupSize.of(memberId) + member.sizeBytes();
    }

    /** Half of what is assigned is its target; the other half is what is in force, with who owns each partition. */
    private static long sizeOfTarget(Assignment target) {
        return target == null ? 0 : (long) target.topicCount() * GroupSize.ASSIGNED_TOPIC_BYTES / 4;
    }

    private static long sizeOf(CurrentAssignment current) {
        if (current == null) {
            return 0;
        }
        int topics =
                current.assigned().topicCount() + current.pendingRevocation().topicCount();
        int partitions = current.assigned().size() + current.pendingRevocation().size();
        return (long) topics * GroupSize.ASSIGNED_TOPIC_BYTES * 3 / 4
                + (long) partitions * GroupSize.ASSIGNED_PARTITION_BYTES;
    }

    void putPattern(String pattern, SortedSet<String> topicNames) {
        settledFor = null;
        SortedSet<String> before = topicNames == null
                ? topicNamesByPattern.remove(pattern)
                : topicNamesByPattern.put(pattern, Collections.unmodifiableSortedSet(new TreeSet<>(topicNames)));
        size.add(sizeOf(pattern, topicNames) - sizeOf(pattern, before));
    }

    private static long sizeOf(String pattern, SortedSet<String> topicNames) {
        return topicNames == null ? 0 : GroupSize.of(pattern) + GroupSize.of(topicNames);
    }

    @Override
    public GroupSize size() {
        return size;
    }

    /** All records are there: derives who owns what. */
    void onLoaded() {
        if (!isLive) {
            isLive = true;
            currents.forEach((memberId, current) -> takeLoaded(memberId, current));
        }
    }

    /**
     * A power loss may have taken the record by which one member gave up what another one was given after it. Then it is
     * the newer one's; the other is told to give it up like anything that is not meant for it.
     */
    private void takeLoaded(String memberId, CurrentAssignment current) {
        current.owned().forEach((topicId, partition) -> owners.computeIfAbsent(topicId, id -> new TreeMap<>())
                .merge(partition, memberId, (one, other) -> newer(one, other)));
    }

    private String newer(String one, String other) {
        boolean oneIsNewer =
                currents.get(one).memberEpoch() >= currents.get(other).memberEpoch();
        hasContested = true;
        return oneIsNewer ? one : other;
    }

    private void take(String memberId, Assignment partitions) {
        partitions.forEach((topicId, partition) -> {
            String before =
                    owners.computeIfAbsent(topicId, id -> new TreeMap<>()).putIfAbsent(partition, memberId);
            Check.that(before == null || hasContested, "a partition with two owners");
        });
    }

    private void release(String memberId, Assignment partitions) {
        partitions.forEach((topicId, partition) -> {
            SortedMap<Integer, String> ofTopic = owners.get(topicId);
            boolean owned = ofTopic != null && ofTopic.remove(partition, memberId);
            Check.that(owned || hasContested, "a partition given up by another one");
            if (ofTopic != null && ofTopic.isEmpty()) {
                owners.remove(topicId);
            }
        });
    }

    // What there is.

    public String groupId() {
        return groupId;
    }

    @Override
    public String id() {
        return groupId;
    }

    @Override
    public Kind kind() {
        return Kind.CONSUMER;
    }

    @Override
    public String protocolType() {
        return "consumer";
    }

    @Override
    public ErrorCode checkCommit(String memberId, String instanceId, int memberEpoch, long nowMs) {
        return MemberRules.offsetAccess(this, memberId, memberEpoch, true);
    }

    @Override
    public ErrorCode checkFetch(String memberId, int memberEpoch) {
        return MemberRules.offsetAccess(this, memberId, memberEpoch, false);
    }

    /** When the last member went, the targets were computed for the last time. */
    @Override
    public long emptySinceMs() {
        return members.isEmpty() ? assignedAtMs : -1;
    }

    @Override
    public List<CoordinatorRecord> tombstones() {
        List<CoordinatorRecord> records = new ArrayList<>();
        members.keySet().forEach(memberId -> records.addAll(ConsumerRecords.withoutMember(groupId, memberId)));
        topicNamesByPattern.keySet().forEach(pattern -> records.add(ConsumerRecords.noPattern(groupId, pattern)));
        records.add(ConsumerRecords.noTargetEpoch(groupId));
        records.add(ConsumerRecords.noEpoch(groupId));
        return records;
    }

    /** When the next assignment may be made at the earliest: at once for the first one, and when nobody is left. */
    long assignmentDueMs(int intervalMs) {
        return members.isEmpty() || assignmentEpoch == 0 ? 0 : assignedAtMs + intervalMs;
    }

    /** The newest change of members, subscriptions or topics. */
    public int epoch() {
        return epoch;
    }

    /** The change for which targets were computed last. */
    public int assignmentEpoch() {
        return assignmentEpoch;
    }

    @Override
    public boolean isEmpty() {
        return members.isEmpty();
    }

    /** Whether there is nothing of it at all. */
    boolean isGone() {
        return !hasEpoch
                && !hasAssignmentEpoch
                && members.isEmpty()
                && currents.isEmpty()
                && targets.isEmpty()
                && topicNamesByPattern.isEmpty();
    }

    /** How many members it has, of either protocol. */
    public int memberCount() {
        return members.size();
    }

    /** Whether members are there, and all speak the classic protocol. */
    boolean hasClassicMembersOnly() {
        return !members.isEmpty() && classicMemberCount == members.size();
    }

    long subscriptionHash() {
        return subscriptionHash;
    }

    SortedMap<String, MemberMetadata> members() {
        return Collections.unmodifiableSortedMap(members);
    }

    /** The member of that id; null when there is none. */
    MemberMetadata member(String memberId) {
        return members.get(memberId);
    }

    /** Id of the static member of that name; null when there is none. */
    String memberOfInstance(String instanceId) {
        return memberByInstance.get(instanceId);
    }

    CurrentAssignment current(String memberId) {
        return currents.getOrDefault(memberId, CurrentAssignment.JOINING);
    }

    Assignment target(String memberId) {
        return targets.getOrDefault(memberId, Assignment.EMPTY);
    }

    SortedMap<String, SortedSet<String>> topicNamesByPattern() {
        return Collections.unmodifiableSortedMap(topicNamesByPattern);
    }

    /** Whether nobody but perhaps this member owns the partition. */
    boolean isFreeFor(String memberId, Uuid topicId, int partition) {
        SortedMap<Integer, String> ofTopic = owners.get(topicId);
        String owner = ofTopic == null ? null : ofTopic.get(partition);
        return owner == null || owner.equals(memberId);
    }

    boolean isSettledFor(Topics topics) {
        return settledFor == topics;
    }

    void settle(Topics topics) {
        settledFor = topics;
    }

    @Override
    public String stateName() {
        if (members.isEmpty()) {
            return "Empty";
        }
        if (epoch > assignmentEpoch) {
            return "Assigning";
        }
        for (String memberId : members.keySet()) {
            CurrentAssignment current = current(memberId);
            if (current.state() != CurrentAssignment.State.STABLE || current.memberEpoch() != assignmentEpoch) {
                return "Reconciling";
            }
        }
        return "Stable";
    }

    /** Every member with those of its topics that exist. */
    List<Subscriber> subscribers(Topics topics) {
        List<Subscriber> subscribers = new ArrayList<>(members.size());
        members.forEach((memberId, member) -> {
            SortedSet<Uuid> ids = new TreeSet<>();
            addIds(ids, member.topicNames(), topics);
            if (member.topicRegex() != null) {
                addIds(ids, topicNamesByPattern.getOrDefault(member.topicRegex(), new TreeSet<>()), topics);
            }
            subscribers.add(new Subscriber(memberId, member.instanceId(), ids, target(memberId)));
        });
        return subscribers;
    }

    private static void addIds(SortedSet<Uuid> ids, Iterable<String> names, Topics topics) {
        for (String name : names) {
            Topics.Topic topic = topics.byName(name);
            if (topic != null) {
                ids.add(topic.id());
            }
        }
    }

    @Override
    public boolean isSubscribedTo(String topicName) {
        return members.values().stream()
                .anyMatch(member -> member.topicNames().contains(topicName)
                        || (member.topicRegex() != null
                                && topicNamesByPattern
                                        .getOrDefault(member.topicRegex(), new TreeSet<>())
                                        .contains(topicName)));
    }
}
