package io.journalq.server.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.consumer.ClassicSnapshot;
import io.journalq.server.group.consumer.EmbeddedProtocol;
import io.journalq.server.group.model.Group;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.model.GroupSize;
import io.journalq.server.group.record.GroupMetadataKey;
import io.journalq.server.group.record.GroupMetadataValue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A group whose members assign partitions themselves: one of them, the leader, computes the assignment. Holds the
 * members and the state of the group; {@link ClassicGroups} implements the operations.
 */
final class ClassicGroup implements Group {
    /** The states of a group, with their names in the protocol. */
    enum State {
        EMPTY("Empty"),
        PREPARING_REBALANCE("PreparingRebalance"),
        COMPLETING_REBALANCE("CompletingRebalance"),
        STABLE("Stable");

        private final String protocolName;

        State(String protocolName) {
            this.protocolName = protocolName;
        }
    }

    private final String id;
    private final Map<String, ClassicMember> members = new LinkedHashMap<>();
    private final Map<String, String> memberIdByInstance = new TreeMap<>();

    private final GroupSize size = new GroupSize();

    /** Member ids given to clients that must join again with them, and the deadline for that. */
    private final Map<String, TimerQueue.Deadline> expectedMembers = new LinkedHashMap<>();

    /** Members of the new generation that have not requested their assignment yet. */
    final Set<String> awaitedSyncs = new LinkedHashSet<>();

    State state = State.EMPTY;
    long stateSinceMs;
    int generation;
    String protocolType = "";
    String protocol;
    String leaderId;

    /** When the current rebalance ends, whether or not all members have joined. */
    TimerQueue.Deadline rebalance;

    /**
     * How long the first rebalance may still wait for more members, in milliseconds; negative if this is not the first
     * one.
     */
    int initialDelayLeftMs = -1;

    /** Whether a member has joined since the first rebalance last checked. */
    boolean memberCame;

    ClassicGroup(String id, long nowMs) {
        this.id = id;
        this.stateSinceMs = nowMs;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public Kind kind() {
        return Kind.CLASSIC;
    }

    @Override
    public String stateName() {
        return state.protocolName;
    }

    @Override
    public String protocolType() {
        return protocolType;
    }

    @Override
    public boolean isEmpty() {
        return state == State.EMPTY;
    }

    @Override
    public long emptySinceMs() {
        return state == State.EMPTY && !protocolType.isEmpty() ? stateSinceMs : -1;
    }

    void moveTo(State next, long nowMs) {
        state = next;
        stateSinceMs = nowMs;
    }

    /** Whether the group holds nothing worth keeping: it has no members, never had any, and expects none. */
    boolean isUnused() {
        return state == State.EMPTY && generation == 0 && members.isEmpty() && expectedMembers.isEmpty();
    }

    Collection<ClassicMember> members() {
        return members.values();
    }

    ClassicMember member(String memberId) {
        return members.get(memberId);
    }

    boolean isLeader(ClassicMember member) {
        return member.id.equals(leaderId);
    }

    /** The current member with a group instance id; null if there is none. */
    ClassicMember memberOfInstance(String instanceId) {
        String memberId = instanceId == null ? null : memberIdByInstance.get(instanceId);
        return memberId == null ? null : members.get(memberId);
    }

    @Override
    public GroupSize size() {
        return size;
    }

    int expectedMemberCount() {
        return expectedMembers.size();
    }

    /** Expects a client to join again with the member id that it is given, until the deadline. */
    void expect(String memberId, TimerQueue.Deadline until) {
        expectedMembers.put(memberId, until);
        size.add(sizeOfExpected(memberId));
    }

    /** Stops expecting the client and returns its deadline; null if it was not expected. */
    TimerQueue.Deadline expectNoMore(String memberId) {
        TimerQueue.Deadline until = expectedMembers.remove(memberId);
        size.add(until == null ? 0 : -sizeOfExpected(memberId));
        return until;
    }

    private static long sizeOfExpected(String memberId) {
        return GroupSize.EXPECTED_MEMBER_BYTES + GroupSize.of(memberId);
    }

    /** Stops expecting any clients. */
    void cancelExpectations() {
        expectedMembers.values().forEach(TimerQueue.Deadline::cancel);
    }

    /** Replaces the protocols and metadata of a member. */
    void setProtocols(ClassicMember member, List<ClassicSnapshot.Protocol> protocols) {
        size.add(ClassicMember.sizeOf(protocols) - ClassicMember.sizeOf(member.protocols()));
        member.setProtocols(protocols);
    }

    private void setAssignment(ClassicMember member, byte[] assignment) {
        size.add(GroupSize.of(assignment) - GroupSize.of(member.assignment()));
        member.setAssignment(assignment);
    }

    void add(ClassicMember member) {
        if (members.isEmpty()) {
            leaderId = member.id;
        }
        members.put(member.id, member);
        size.add(member.sizeBytes());
        if (member.isStatic()) {
            memberIdByInstance.put(member.instanceId, member.id);
        }
    }

    void remove(ClassicMember member) {
        if (members.remove(member.id) != null) {
            size.add(-member.sizeBytes());
        }
        member.cancelSession();
        awaitedSyncs.remove(member.id);
        if (member.isStatic()) {
            memberIdByInstance.remove(member.instanceId, member.id);
        }
        if (isLeader(member)) {
            leaderId = members.isEmpty() ? null : members.keySet().iterator().next();
        }
    }

    /**
     * Checks a member: {@link ErrorCode#NONE}, unknown, or fenced by another member with the same group instance id.
     */
    ErrorCode checkMember(String memberId, String instanceId) {
        if (instanceId != null) {
            ClassicMember ofInstance = memberOfInstance(instanceId);
            if (ofInstance == null) {
                return ErrorCode.UNKNOWN_MEMBER_ID;
            }
            if (!ofInstance.id.equals(memberId)) {
                return ErrorCode.FENCED_INSTANCE_ID;
            }
        }
        return members.containsKey(memberId) ? ErrorCode.NONE : ErrorCode.UNKNOWN_MEMBER_ID;
    }

    /** Whether a client that supports these protocols can join the group. */
    boolean accepts(String type, List<ClassicSnapshot.Protocol> protocols) {
        if (type.isEmpty() || protocols.isEmpty()) {
            return false;
        }
        return members.isEmpty()
                || (protocolType.equals(type) && protocols.stream().anyMatch(one -> everyoneSupports(one.name())));
    }

    private boolean everyoneSupports(String name) {
        return members.values().stream().allMatch(member -> member.supports(name));
    }

    /** The protocol that all members support and most of them prefer. */
    String electProtocol() {
        Map<String, Integer> votes = new LinkedHashMap<>();
        for (ClassicMember member : members.values()) {
            for (ClassicSnapshot.Protocol preferred : member.protocols()) {
                if (everyoneSupports(preferred.name())) {
                    votes.merge(preferred.name(), 1, Integer::sum);
                    break;
                }
            }
        }
        String elected = null;
        int most = 0;
        for (Map.Entry<String, Integer> candidate : votes.entrySet()) {
            if (candidate.getValue() > most) {
                most = candidate.getValue();
                elected = candidate.getKey();
            }
        }
        return elected;
    }

    /** The longest rebalance timeout of all members. */
    int rebalanceTimeoutMs() {
        return members.values().stream()
                .mapToInt(member -> member.rebalanceTimeoutMs)
                .max()
                .orElse(0);
    }

    boolean hasEveryoneJoined() {
        return expectedMembers.isEmpty() && members.values().stream().allMatch(member -> member.joining != null);
    }

    /** Makes one of the joined members the leader; returns false if no member has joined. */
    boolean electLeaderAmongJoined() {
        ClassicMember leader = leaderId == null ? null : members.get(leaderId);
        if (leader != null && leader.joining != null) {
            return true;
        }
        Optional<ClassicMember> joined = members.values().stream()
                .filter(member -> member.joining != null)
                .findFirst();
        joined.ifPresent(member -> leaderId = member.id);
        return joined.isPresent();
    }

    @Override
    public ErrorCode checkCommit(String memberId, String instanceId, int commitGeneration, long nowMs) {
        if (commitGeneration < 0 && state == State.EMPTY) {
            // As in Kafka, also with an instance id: a consumer may have one without being a member.
            return ErrorCode.NONE;
        }
        ErrorCode error = checkMember(memberId, instanceId);
        if (error != ErrorCode.NONE) {
            return error;
        }
        if (commitGeneration != generation) {
            return ErrorCode.ILLEGAL_GENERATION;
        }
        // The member does not know its new assignment yet, so it may commit offsets of another member's partitions.
        return state == State.COMPLETING_REBALANCE ? ErrorCode.REBALANCE_IN_PROGRESS : ErrorCode.NONE;
    }

    @Override
    public ErrorCode checkFetch(String memberId, int memberEpoch) {
        return ErrorCode.NONE;
    }

    @Override
    public boolean isSubscribedTo(String topic) {
        if (isEmpty() || !protocolType.equals(EmbeddedProtocol.TYPE)) {
            return false;
        }
        for (ClassicMember member : members.values()) {
            for (ClassicSnapshot.Protocol own : member.protocols()) {
                var told = EmbeddedProtocol.subscription(own.metadata());
                if (told.isEmpty() || told.get().topics().contains(topic)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public List<CoordinatorRecord> tombstones() {
        return List.of(CoordinatorRecord.tombstone(key()));
    }

    private GroupMetadataKey key() {
        return new GroupMetadataKey().setGroup(id);
    }

    /** The group's record, with assignments that are not in effect yet. */
    CoordinatorRecord toRecord(Map<String, byte[]> assignments, long nowMs) {
        List<GroupMetadataValue.MemberMetadata> all = new ArrayList<>(members.size());
        for (ClassicMember member : members.values()) {
            all.add(new GroupMetadataValue.MemberMetadata()
                    .setMemberId(member.id)
                    .setGroupInstanceId(member.instanceId)
                    .setClientId(member.origin.clientId())
                    .setClientHost(member.origin.clientHost())
                    .setRebalanceTimeout(member.rebalanceTimeoutMs)
                    .setSessionTimeout(member.sessionTimeoutMs)
                    .setSubscription(Unpooled.wrappedBuffer(member.metadata(protocol)))
                    .setAssignment(Unpooled.wrappedBuffer(assignments.getOrDefault(member.id, ClassicMember.NOTHING))));
        }
        return new CoordinatorRecord(
                key(),
                new GroupMetadataValue()
                        .setProtocolType(protocolType)
                        .setGeneration(generation)
                        .setProtocol(protocol)
                        .setLeader(leaderId)
                        .setCurrentStateTimestamp(nowMs)
                        .setMembers(all));
    }

    /** The record of a group of consumers that has no members since {@code emptySinceMs}. */
    static CoordinatorRecord emptyRecord(String groupId, int generation, long emptySinceMs) {
        ClassicGroup group = new ClassicGroup(groupId, emptySinceMs);
        group.protocolType = EmbeddedProtocol.TYPE;
        group.generation = generation;
        return group.toRecord(Map.of(), emptySinceMs);
    }

    /** The members with all of their metadata, for conversion to another group type. */
    ClassicSnapshot snapshot() {
        List<ClassicSnapshot.Member> all = new ArrayList<>(members.size());
        for (ClassicMember member : members.values()) {
            all.add(new ClassicSnapshot.Member(
                    member.id,
                    member.instanceId,
                    member.origin,
                    member.rebalanceTimeoutMs,
                    member.sessionTimeoutMs,
                    member.protocols(),
                    member.assignment()));
        }
        return new ClassicSnapshot(id, generation, all);
    }

    /** Creates a group from members of another group type. */
    static ClassicGroup of(ClassicSnapshot snapshot, long nowMs) {
        ClassicGroup group = new ClassicGroup(snapshot.groupId(), nowMs);
        for (ClassicSnapshot.Member from : snapshot.members()) {
            ClassicMember member = new ClassicMember(from.id(), from.instanceId(), from.origin());
            member.rebalanceTimeoutMs = from.rebalanceTimeoutMs();
            member.sessionTimeoutMs = from.sessionTimeoutMs();
            member.setProtocols(from.protocols());
            member.setAssignment(from.assignment());
            group.add(member);
        }
        group.generation = snapshot.generation();
        group.protocolType = EmbeddedProtocol.TYPE;
        group.protocol = group.electProtocol();
        return group;
    }

    /** Assignments in effect, by member. */
    Map<String, byte[]> assignments() {
        Map<String, byte[]> assignments = new TreeMap<>();
        members.values().forEach(member -> assignments.put(member.id, member.assignment()));
        return assignments;
    }

    /** Applies a record. In live operation only assignments and state are new; after a restart, everything is. */
    void replay(GroupMetadataValue value) {
        Set<String> present = new TreeSet<>();
        generation = value.generation();
        protocolType = value.protocolType();
        protocol = value.protocol();
        for (GroupMetadataValue.MemberMetadata recorded : value.members()) {
            present.add(recorded.memberId());
            ClassicMember member = members.get(recorded.memberId());
            if (member == null) {
                member = new ClassicMember(
                        recorded.memberId(),
                        recorded.groupInstanceId(),
                        new Origin(recorded.clientId(), recorded.clientHost()));
                member.rebalanceTimeoutMs = recorded.rebalanceTimeout();
                member.sessionTimeoutMs = recorded.sessionTimeout();
                member.setProtocols(List.of(
                        new ClassicSnapshot.Protocol(String.valueOf(protocol), bytes(recorded.subscription()))));
                add(member);
            }
            setAssignment(member, bytes(recorded.assignment()));
        }
        for (ClassicMember member : List.copyOf(members.values())) {
            if (!present.contains(member.id)) {
                remove(member);
            }
        }
        leaderId = value.leader();
        moveTo(members.isEmpty() ? State.EMPTY : State.STABLE, Math.max(0, value.currentStateTimestamp()));
    }

    static byte[] bytes(ByteBuf slice) {
        return slice == null ? ClassicMember.NOTHING : ByteBufUtil.getBytes(slice);
    }
}
