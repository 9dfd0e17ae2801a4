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
 * A group of the consumer protocol, as defined by its records. While the group is loaded, records may come in any
 * order, so state derived from several records is computed afterwards. Changed only by {@link ConsumerGroups}, on its
 * thread.
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
    /**
     * Whether two members held the same partition when the group was loaded: the one that does not own it must revoke
     * it.
     */
    private boolean hasContested;

    private boolean hasEpoch;
    private int epoch;
    private long subscriptionHash;
    private boolean hasAssignmentEpoch;
    private int assignmentEpoch;
    private long assignedAtMs;
    private int classicMemberCount;
    private boolean isLive;
    /** The topics for which epoch and target were last checked; null if something has changed since. */
    private Topics settledFor;

    ConsumerGroup(String groupId) {
        this.groupId = groupId;
    }

    // Changed by records.

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

    /** Null removes the member; the same applies below. */
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

    /**
     * Half of the size of an assignment is for the target, the other half for the assignment in effect and the owners
     * of its partitions.
     */
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

    /** Derives the owners of partitions once all records are replayed. */
    void onLoaded() {
        if (!isLive) {
            withoutMember(currents).forEach(memberId -> putCurrent(memberId, null));
            withoutMember(targets).forEach(memberId -> putTarget(memberId, null));
            isLive = true;
            currents.forEach((memberId, current) -> takeLoaded(memberId, current));
        }
    }

    /**
     * The assignments of members that the group does not have: a power loss may have taken the record of a member, but
     * not its later ones. No deadline would ever free its partitions.
     */
    private List<String> withoutMember(SortedMap<String, ?> assignments) {
        return assignments.keySet().stream()
                .filter(memberId -> !members.containsKey(memberId))
                .toList();
    }

    /**
     * Sets the owners of a loaded assignment. A power loss may have taken the record in which a member revoked a
     * partition that was then assigned to another member. In this case the newer assignment counts, and the other
     * member is asked to revoke the partition.
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

    // Queries.

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

    /** When the targets were last computed, which happened when the last member left. */
    @Override
    public long emptySinceMs() {
        return members.isEmpty() ? assignedAtMs : -1;
    }

    @Override
    public List<CoordinatorRecord> tombstones() {
        List<CoordinatorRecord> records = new ArrayList<>();
        members.keySet().forEach(memberId -> records.addAll(ConsumerGroupRecords.withoutMember(groupId, memberId)));
        topicNamesByPattern.keySet().forEach(pattern -> records.add(ConsumerGroupRecords.noPattern(groupId, pattern)));
        records.add(ConsumerGroupRecords.noTargetEpoch(groupId));
        records.add(ConsumerGroupRecords.noEpoch(groupId));
        return records;
    }

    /**
     * The earliest time of the next assignment: at once for the first one, when no members are left, and if the clock
     * of the last one was ahead.
     */
    long assignmentDueMs(int intervalMs, long nowMs) {
        boolean isFree = members.isEmpty() || assignmentEpoch == 0 || assignedAtMs > nowMs;
        return isFree ? 0 : assignedAtMs + intervalMs;
    }

    /** The newest change of members, subscriptions or topics. */
    public int epoch() {
        return epoch;
    }

    /** The change for which targets were last computed. */
    public int assignmentEpoch() {
        return assignmentEpoch;
    }

    @Override
    public boolean isEmpty() {
        return members.isEmpty();
    }

    /** Whether no record of the group is left. */
    boolean isGone() {
        return !hasEpoch
                && !hasAssignmentEpoch
                && members.isEmpty()
                && currents.isEmpty()
                && targets.isEmpty()
                && topicNamesByPattern.isEmpty();
    }

    /** Number of members of either protocol. */
    public int memberCount() {
        return members.size();
    }

    /** Whether there are members, and all of them use the classic protocol. */
    boolean hasClassicMembersOnly() {
        return !members.isEmpty() && classicMemberCount == members.size();
    }

    long subscriptionHash() {
        return subscriptionHash;
    }

    SortedMap<String, MemberMetadata> members() {
        return Collections.unmodifiableSortedMap(members);
    }

    /** The member with this id; null if there is none. */
    MemberMetadata member(String memberId) {
        return members.get(memberId);
    }

    /** Id of the static member with this group instance id; null if there is none. */
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

    /** Whether the partition is unowned or owned by this member. */
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

    /** Every member with the topics of its subscription that exist. */
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
