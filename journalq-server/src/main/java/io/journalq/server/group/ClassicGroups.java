package io.journalq.server.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.ClassicGroup.State;
import io.journalq.server.group.consumer.ClassicSnapshot;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.model.GroupSize;
import io.journalq.server.memory.MemoryAccount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The operations on classic groups: members join, the leader assigns, members leave or time out. The coordinator treats
 * eager and cooperative rebalances alike, because only the clients distinguish them. Static members (KIP-345) keep
 * their assignment when their client restarts.
 */
final class ClassicGroups {
    /** Session timeout of a member that waits for its first rebalance, because it sends no heartbeats until then. */
    private static final int NEW_MEMBER_TIMEOUT_MS = 300_000;

    private static final short FIRST_JOIN_VERSION_THAT_SKIPS_ASSIGNMENT = 9;
    private static final short FIRST_JOIN_VERSION_WITH_KNOWN_MEMBERS = 4;

    private final GroupLimits limits;
    private final TimerQueue deadlines;
    private final Outbox outbox;
    private final MemoryAccount memory;
    private final Supplier<String> ids;
    private final Consumer<ClassicGroup> abandoned;
    /** The time of the current step. */
    private long nowMs;

    /**
     * Creates an instance without groups.
     *
     * @param memory checked for room before a group grows
     * @param ids generates unique strings for member ids
     * @param abandoned called with each group that a client started to join and then abandoned
     */
    ClassicGroups(
            GroupLimits limits,
            TimerQueue deadlines,
            Outbox outbox,
            MemoryAccount memory,
            Supplier<String> ids,
            Consumer<ClassicGroup> abandoned) {
        this.memory = memory;
        this.limits = limits;
        this.deadlines = deadlines;
        this.outbox = outbox;
        this.ids = ids;
        this.abandoned = abandoned;
    }

    /** Sets the time of the following calls. */
    void at(long stepMs) {
        nowMs = stepMs;
    }

    /** Starts the session timeouts of the members of a loaded group. */
    void onLoaded(ClassicGroup group) {
        group.members().forEach(member -> restartSession(group, member, member.sessionTimeoutMs));
    }

    /** Converts a group of the consumer protocol to this classic group. Its members rebalance. */
    void convert(ClassicGroup group, ClassicSnapshot snapshot) {
        for (ClassicSnapshot.Member from : snapshot.members()) {
            // The record holds only the protocol in effect.
            group.setProtocols(group.member(from.id()), from.protocols());
        }
        onLoaded(group);
        rebalance(group);
    }

    /** Responds to all waiting members, because the group is converted to another type. */
    void dissolve(ClassicGroup group) {
        cancelRebalance(group);
        group.cancelExpectations();
        for (ClassicMember member : group.members()) {
            member.cancelSession();
            if (member.joining != null) {
                member.joining.send(
                        ClassicResponses.refusal(member.joinVersion, ErrorCode.REBALANCE_IN_PROGRESS, member.id));
                member.joining = null;
            }
            if (member.syncing != null) {
                member.syncing.send(ClassicResponses.refusal(ErrorCode.REBALANCE_IN_PROGRESS));
                member.syncing = null;
            }
        }
    }

    // Joining.

    void join(
            ClassicGroup group,
            Origin origin,
            short version,
            JoinGroupRequest request,
            Reply<JoinGroupResponse> reply) {
        List<ClassicSnapshot.Protocol> protocols =
                new ArrayList<>(request.protocols().size());
        for (JoinGroupRequest.JoinGroupRequestProtocol protocol : request.protocols()) {
            protocols.add(new ClassicSnapshot.Protocol(protocol.name(), ClassicGroup.bytes(protocol.metadata())));
        }
        Join join = new Join(origin, version, request, protocols, reply);
        if (!memory.hasRoom(growth(group, join))) {
            join.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED);
        } else if (!group.accepts(request.protocolType(), protocols)) {
            join.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL);
        } else if (request.memberId().isEmpty()) {
            joinAsNew(group, join);
        } else {
            joinAgain(group, join);
        }
    }

    /** By how many bytes the group grows if the client joins, including the group itself if it is new. */
    private static long growth(ClassicGroup group, Join join) {
        long said = ClassicMember.sizeOf(join.protocols());
        ClassicMember before = group.member(join.request().memberId());
        if (before == null) {
            before = group.memberOfInstance(join.request().groupInstanceId());
        }
        if (before != null) {
            return said - ClassicMember.sizeOf(before.protocols());
        }
        return said + GroupSize.MEMBER_BYTES + (group.isUnused() ? GroupSize.GROUP_BYTES : 0);
    }

    /** A JoinGroup request and its reply. */
    private record Join(
            Origin origin,
            short version,
            JoinGroupRequest request,
            List<ClassicSnapshot.Protocol> protocols,
            Reply<JoinGroupResponse> reply) {
        void refuse(ErrorCode error) {
            reply.send(ClassicResponses.refusal(version, error, request.memberId()));
        }
    }

    private void joinAsNew(ClassicGroup group, Join join) {
        String instanceId = join.request().groupInstanceId();
        ClassicMember before = group.memberOfInstance(instanceId);
        if (before != null) {
            replaceStatic(group, before, join);
            return;
        }
        if (group.members().size() + group.expectedMemberCount() >= limits.maxMembers()) {
            join.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED);
            return;
        }
        String memberId = newMemberId(instanceId == null ? join.origin().clientId() : instanceId);
        if (instanceId == null && join.version() >= FIRST_JOIN_VERSION_WITH_KNOWN_MEMBERS) {
            // A client that gives up before it knows its id must not leave a member behind (KIP-394).
            group.expect(
                    memberId,
                    deadlines.at(nowMs + join.request().sessionTimeoutMs(), () -> onExpectedGone(group, memberId)));
            join.reply().send(ClassicResponses.refusal(join.version(), ErrorCode.MEMBER_ID_REQUIRED, memberId));
            return;
        }
        addAndRebalance(group, memberId, join);
    }

    private String newMemberId(String prefix) {
        return prefix + "-" + ids.get();
    }

    private void onExpectedGone(ClassicGroup group, String memberId) {
        group.expectNoMore(memberId);
        completeIfEveryoneJoined(group);
        abandoned.accept(group);
    }

    private void joinAgain(ClassicGroup group, Join join) {
        String memberId = join.request().memberId();
        TimerQueue.Deadline expected = group.expectNoMore(memberId);
        if (expected != null) {
            expected.cancel();
            addAndRebalance(group, memberId, join);
            return;
        }
        ErrorCode error = group.checkMember(memberId, join.request().groupInstanceId());
        if (error != ErrorCode.NONE) {
            join.refuse(error);
            return;
        }
        ClassicMember member = group.member(memberId);
        boolean asBefore = member.isSame(join.protocols());
        boolean responsesAtOnce = asBefore
                && (group.state == State.COMPLETING_REBALANCE
                        || (group.state == State.STABLE && !group.isLeader(member)));
        if (responsesAtOnce) {
            // The member missed the response and requests it again.
            boolean leads = group.state == State.COMPLETING_REBALANCE && group.isLeader(member);
            join.reply().send(ClassicResponses.joined(group, member, leads, false));
            return;
        }
        update(group, member, join);
        rebalance(group);
        completeIfEveryoneJoined(group);
    }

    private void addAndRebalance(ClassicGroup group, String memberId, Join join) {
        ClassicMember member = new ClassicMember(memberId, join.request().groupInstanceId(), join.origin());
        member.isNew = true;
        if (group.members().isEmpty()) {
            group.protocolType = join.request().protocolType();
        }
        group.add(member);
        update(group, member, join);
        restartSession(group, member, NEW_MEMBER_TIMEOUT_MS);
        group.memberCame = true;
        rebalance(group);
        completeIfEveryoneJoined(group);
    }

    private static void update(ClassicGroup group, ClassicMember member, Join join) {
        if (member.joining != null) {
            // The client gave up that request and sent another.
            member.joining.send(ClassicResponses.refusal(member.joinVersion, ErrorCode.UNKNOWN_MEMBER_ID, member.id));
        }
        group.setProtocols(member, join.protocols());
        member.rebalanceTimeoutMs = join.version() == 0
                ? join.request().sessionTimeoutMs()
                : join.request().rebalanceTimeoutMs();
        member.sessionTimeoutMs = join.request().sessionTimeoutMs();
        member.joining = join.reply();
        member.joinVersion = join.version();
    }

    /** A static member's client restarted: the new member replaces the old one, which is fenced. */
    private void replaceStatic(ClassicGroup group, ClassicMember before, Join join) {
        boolean led = group.isLeader(before);
        fence(before);
        ClassicMember member = new ClassicMember(newMemberId(before.instanceId), before.instanceId, join.origin());
        member.setAssignment(before.assignment());
        group.remove(before);
        group.add(member);
        if (led) {
            group.leaderId = member.id;
        }
        update(group, member, join);
        restartSession(group, member, member.sessionTimeoutMs);
        boolean changesNothing = group.state == State.STABLE && group.protocol.equals(group.electProtocol());
        boolean saysTheSame = Arrays.equals(before.metadata(group.protocol), member.metadata(group.protocol));
        if (changesNothing && saysTheSame) {
            outbox.append(List.of(group.toRecord(group.assignments(), nowMs)));
            member.joining = null;
            // A leader that does not know the other members must not compute an assignment.
            boolean tellsMembers = led && join.version() >= FIRST_JOIN_VERSION_THAT_SKIPS_ASSIGNMENT;
            JoinGroupResponse response = ClassicResponses.joined(group, member, tellsMembers, tellsMembers);
            join.reply().send(led && !tellsMembers ? response.setLeader(before.id) : response);
            return;
        }
        rebalance(group);
        completeIfEveryoneJoined(group);
    }

    private static void fence(ClassicMember member) {
        if (member.joining != null) {
            member.joining.send(ClassicResponses.refusal(member.joinVersion, ErrorCode.FENCED_INSTANCE_ID, member.id));
            member.joining = null;
        }
        if (member.syncing != null) {
            member.syncing.send(ClassicResponses.refusal(ErrorCode.FENCED_INSTANCE_ID));
            member.syncing = null;
        }
    }

    // Rebalancing.

    /** Starts a rebalance unless one is in progress that still accepts members. */
    private void rebalance(ClassicGroup group) {
        if (group.state == State.PREPARING_REBALANCE) {
            return;
        }
        for (ClassicMember member : group.members()) {
            if (member.syncing != null) {
                member.syncing.send(ClassicResponses.refusal(ErrorCode.REBALANCE_IN_PROGRESS));
                member.syncing = null;
            }
        }
        group.awaitedSyncs.clear();
        cancelRebalance(group);
        if (group.state == State.EMPTY) {
            group.initialDelayLeftMs = Math.max(limits.initialRebalanceDelayMs(), group.rebalanceTimeoutMs());
            waitForMore(group);
        } else {
            group.initialDelayLeftMs = -1;
            group.rebalance = deadlines.at(nowMs + group.rebalanceTimeoutMs(), () -> complete(group));
        }
        group.moveTo(State.PREPARING_REBALANCE, nowMs);
    }

    private void waitForMore(ClassicGroup group) {
        int delayMs = Math.min(limits.initialRebalanceDelayMs(), group.initialDelayLeftMs);
        group.initialDelayLeftMs -= delayMs;
        group.memberCame = false;
        group.rebalance = deadlines.at(nowMs + delayMs, () -> onWaited(group));
    }

    private void onWaited(ClassicGroup group) {
        if (group.memberCame && group.initialDelayLeftMs > 0) {
            waitForMore(group);
        } else {
            group.initialDelayLeftMs = -1;
            complete(group);
        }
    }

    private static void cancelRebalance(ClassicGroup group) {
        if (group.rebalance != null) {
            group.rebalance.cancel();
            group.rebalance = null;
        }
    }

    private void completeIfEveryoneJoined(ClassicGroup group) {
        boolean waitsForMore = group.initialDelayLeftMs >= 0;
        if (group.state == State.PREPARING_REBALANCE && !waitsForMore && group.hasEveryoneJoined()) {
            complete(group);
        }
    }

    /** Completes the joining phase: the members that have joined form the next generation. */
    private void complete(ClassicGroup group) {
        cancelRebalance(group);
        for (ClassicMember member : List.copyOf(group.members())) {
            if (member.joining == null && !member.isStatic()) {
                group.remove(member);
            }
        }
        if (!group.members().isEmpty() && !group.electLeaderAmongJoined()) {
            // Static members may still return, even if none of them is there now.
            group.rebalance = deadlines.at(nowMs + Math.max(1, group.rebalanceTimeoutMs()), () -> complete(group));
            return;
        }
        group.generation++;
        if (group.members().isEmpty()) {
            group.protocol = null;
            group.leaderId = null;
            group.moveTo(State.EMPTY, nowMs);
            outbox.append(List.of(group.toRecord(Map.of(), nowMs)));
            return;
        }
        group.protocol = group.electProtocol();
        group.moveTo(State.COMPLETING_REBALANCE, nowMs);
        for (ClassicMember member : List.copyOf(group.members())) {
            group.awaitedSyncs.add(member.id);
            if (member.joining != null) {
                Reply<JoinGroupResponse> reply = member.joining;
                member.joining = null;
                member.isNew = false;
                reply.send(ClassicResponses.joined(group, member, group.isLeader(member), false));
                restartSession(group, member, member.sessionTimeoutMs);
            }
        }
        int generation = group.generation;
        group.rebalance = deadlines.at(nowMs + group.rebalanceTimeoutMs(), () -> onSyncsMissing(group, generation));
    }

    /** Removes the members that joined and never requested their assignment. */
    private void onSyncsMissing(ClassicGroup group, int generation) {
        group.rebalance = null;
        if (group.generation != generation || group.awaitedSyncs.isEmpty()) {
            return;
        }
        for (String memberId : List.copyOf(group.awaitedSyncs)) {
            ClassicMember member = group.member(memberId);
            if (member != null) {
                group.remove(member);
            }
        }
        rebalance(group);
        completeIfEveryoneJoined(group);
    }

    // Assigning.

    void sync(ClassicGroup group, SyncGroupRequest request, Reply<SyncGroupResponse> reply) {
        ErrorCode error = checkSync(group, request);
        if (error != ErrorCode.NONE) {
            reply.send(ClassicResponses.refusal(error));
            return;
        }
        ClassicMember member = group.member(request.memberId());
        if (assigns(group, member)
                && (!memory.hasRoom(growth(group, request)) || !GroupAppends.fits(group, sizeOf(request)))) {
            reply.send(ClassicResponses.refusal(ErrorCode.GROUP_MAX_SIZE_REACHED));
            return;
        }
        group.awaitedSyncs.remove(member.id);
        restartSession(group, member, member.sessionTimeoutMs);
        if (group.state == State.STABLE) {
            reply.send(ClassicResponses.assigned(group, member));
            return;
        }
        if (member.syncing != null) {
            member.syncing.send(ClassicResponses.refusal(ErrorCode.UNKNOWN_MEMBER_ID));
        }
        member.syncing = reply;
        if (assigns(group, member)) {
            assign(group, request);
        }
    }

    private static boolean assigns(ClassicGroup group, ClassicMember member) {
        return group.state != State.STABLE && group.isLeader(member);
    }

    private static long growth(ClassicGroup group, SyncGroupRequest request) {
        return sizeOf(request) - GroupSize.of(group.assignments());
    }

    private static long sizeOf(SyncGroupRequest request) {
        long bytes = 0;
        for (SyncGroupRequest.SyncGroupRequestAssignment assignment : request.assignments()) {
            bytes += GroupSize.TEXT_BYTES + assignment.assignment().readableBytes();
        }
        return bytes;
    }

    private static ErrorCode checkSync(ClassicGroup group, SyncGroupRequest request) {
        ErrorCode error = group.checkMember(request.memberId(), request.groupInstanceId());
        if (error != ErrorCode.NONE) {
            return error;
        }
        if (request.generationId() != group.generation) {
            return ErrorCode.ILLEGAL_GENERATION;
        }
        boolean ofOtherType =
                request.protocolType() != null && !request.protocolType().equals(group.protocolType);
        boolean ofOtherName =
                request.protocolName() != null && !request.protocolName().equals(group.protocol);
        if (ofOtherType || ofOtherName) {
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL;
        }
        return group.state == State.PREPARING_REBALANCE ? ErrorCode.REBALANCE_IN_PROGRESS : ErrorCode.NONE;
    }

    private void assign(ClassicGroup group, SyncGroupRequest request) {
        Map<String, byte[]> assignments = new TreeMap<>();
        for (SyncGroupRequest.SyncGroupRequestAssignment assignment : request.assignments()) {
            assignments.put(assignment.memberId(), ClassicGroup.bytes(assignment.assignment()));
        }
        outbox.append(List.of(group.toRecord(assignments, nowMs)));
        for (ClassicMember member : group.members()) {
            if (member.syncing != null) {
                Reply<SyncGroupResponse> reply = member.syncing;
                member.syncing = null;
                reply.send(ClassicResponses.assigned(group, member));
            }
        }
    }

    // Heartbeats and leaving.

    void heartbeat(ClassicGroup group, HeartbeatRequest request, Reply<HeartbeatResponse> reply) {
        ErrorCode error = group.checkMember(request.memberId(), request.groupInstanceId());
        if (error == ErrorCode.NONE && request.generationId() != group.generation) {
            error = ErrorCode.ILLEGAL_GENERATION;
        }
        if (error == ErrorCode.NONE) {
            onSignOfLife(group, request.memberId());
            error = group.state == State.PREPARING_REBALANCE ? ErrorCode.REBALANCE_IN_PROGRESS : ErrorCode.NONE;
        }
        reply.send(new HeartbeatResponse().setErrorCode(error.code()));
    }

    /** Restarts the session timeout after a request that proves that the member is alive. */
    void onSignOfLife(ClassicGroup group, String memberId) {
        ClassicMember member = group.member(memberId);
        if (member != null) {
            restartSession(group, member, member.sessionTimeoutMs);
        }
    }

    private void restartSession(ClassicGroup group, ClassicMember member, int timeoutMs) {
        member.cancelSession();
        member.session = deadlines.at(nowMs + timeoutMs, () -> onSessionEnd(group, member));
    }

    private void onSessionEnd(ClassicGroup group, ClassicMember member) {
        boolean waits = member.joining != null || member.syncing != null;
        if (waits && !member.isNew) {
            restartSession(group, member, member.sessionTimeoutMs);
        } else {
            member.session = null;
            removeAndRebalance(group, member);
        }
    }

    /** Removes a member by its id or, if it is static, by its group instance id. */
    LeaveGroupResponse.MemberResponse leave(ClassicGroup group, LeaveGroupRequest.MemberIdentity leaving) {
        ClassicMember ofInstance = group.memberOfInstance(leaving.groupInstanceId());
        String memberId = leaving.memberId().isEmpty() && ofInstance != null ? ofInstance.id : leaving.memberId();
        LeaveGroupResponse.MemberResponse response = new LeaveGroupResponse.MemberResponse()
                .setMemberId(leaving.memberId())
                .setGroupInstanceId(leaving.groupInstanceId());
        TimerQueue.Deadline expected = group.expectNoMore(memberId);
        if (expected != null) {
            expected.cancel();
            completeIfEveryoneJoined(group);
            return response;
        }
        ErrorCode error = group.checkMember(memberId, leaving.groupInstanceId());
        if (error == ErrorCode.NONE) {
            removeAndRebalance(group, group.member(memberId));
        }
        return response.setErrorCode(error.code());
    }

    private void removeAndRebalance(ClassicGroup group, ClassicMember member) {
        if (member.joining != null) {
            member.joining.send(ClassicResponses.refusal(member.joinVersion, ErrorCode.UNKNOWN_MEMBER_ID, member.id));
            member.joining = null;
        }
        if (member.syncing != null) {
            member.syncing.send(ClassicResponses.refusal(ErrorCode.UNKNOWN_MEMBER_ID));
            member.syncing = null;
        }
        group.remove(member);
        rebalance(group);
        completeIfEveryoneJoined(group);
    }
}
