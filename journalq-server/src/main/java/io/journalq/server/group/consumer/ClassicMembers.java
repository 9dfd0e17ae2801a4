package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import io.journalq.server.group.consumer.MemberDeadlines.Kind;
import io.journalq.server.group.consumer.MemberDeadlines.Subject;
import io.journalq.server.group.consumer.MemberRules.RequestError;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.memory.MemoryAccount;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Members that still use the classic protocol, in a group that has been converted to the consumer protocol (KIP-848).
 * The coordinator assigns partitions, and none of these members is a leader. A member's epoch is its generation. The
 * member is asked to join again when partitions are to be revoked or assigned. One thread: that of the coordinator's
 * host.
 */
public final class ClassicMembers {
    private static final short FIRST_JOIN_VERSION_WITH_KNOWN_MEMBERS = 4;

    private final ConsumerGroupLimits limits;
    private final MemoryAccount memory;
    private final MemberLifecycle membership;
    private final Supplier<String> ids;

    /** @param memory checked for room before a group grows */
    ClassicMembers(ConsumerGroupLimits limits, MemoryAccount memory, MemberLifecycle membership, Supplier<String> ids) {
        this.limits = limits;
        this.memory = memory;
        this.membership = membership;
        this.ids = ids;
    }

    /** Responds to a JoinGroup request at once. A rejection carries an error and only the member's id. */
    public JoinGroupResponse join(
            ConsumerGroup group, Origin origin, short version, JoinGroupRequest request, long nowMs) {
        List<ClassicSnapshot.Protocol> protocols = new ArrayList<>();
        request.protocols()
                .forEach(protocol -> protocols.add(
                        new ClassicSnapshot.Protocol(protocol.name(), ByteBufUtil.getBytes(protocol.metadata()))));
        ErrorCode error = checkProtocols(group, request, protocols);
        if (error == ErrorCode.NONE) {
            error = checkJoin(group, request);
        }
        if (error != ErrorCode.NONE) {
            return refusal(error, request.memberId());
        }
        String instanceId = request.groupInstanceId();
        String memberId = request.memberId();
        if (memberId.isEmpty()) {
            memberId = (instanceId == null ? origin.clientId() : instanceId) + "-" + ids.get();
            if (instanceId == null && version >= FIRST_JOIN_VERSION_WITH_KNOWN_MEMBERS) {
                return refusal(ErrorCode.MEMBER_ID_REQUIRED, memberId);
            }
        }
        int rebalanceTimeoutMs = version == 0 ? request.sessionTimeoutMs() : request.rebalanceTimeoutMs();
        MemberMetadata metadata = GroupProtocolMigration.metadata(
                origin,
                instanceId,
                rebalanceTimeoutMs,
                new MemberMetadata.Classic(request.sessionTimeoutMs(), protocols));
        String replaced = instanceId == null ? null : group.memberOfInstance(instanceId);
        MemberMetadata before = group.member(replaced == null ? memberId : replaced);
        if (!memory.hasRoom(GroupGrowth.of(memberId, before, metadata, membership.topics()))) {
            return refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, memberId);
        }
        List<CoordinatorRecord> change = new ArrayList<>();
        if (replaced != null && !replaced.equals(memberId)) {
            change.addAll(membership.replacement(group, replaced, memberId));
        }
        change.add(ConsumerGroupRecords.member(group.groupId(), memberId, metadata));
        Assignment owned = EmbeddedProtocol.owned(subscription(protocols), membership.topics());
        membership.update(
                group,
                memberId,
                change,
                partitions -> !partitions.intersection(owned).isEmpty(),
                nowMs);
        membership.deadlines().cancel(new Subject(group.groupId(), memberId, Kind.REBALANCE));
        membership.await(group, memberId, Kind.SYNC, nowMs);
        JoinGroupResponse response = new JoinGroupResponse()
                .setMemberId(memberId)
                .setGenerationId(group.current(memberId).memberEpoch())
                .setProtocolType(EmbeddedProtocol.TYPE)
                .setProtocolName(protocols.get(0).name())
                .setLeader("");
        // It may have replaced the last member of the consumer protocol.
        membership.turnClassic(group, nowMs);
        return response;
    }

    private static JoinGroupResponse refusal(ErrorCode error, String memberId) {
        return new JoinGroupResponse().setErrorCode(error.code()).setMemberId(memberId);
    }

    private static ConsumerProtocolSubscription subscription(List<ClassicSnapshot.Protocol> protocols) {
        return EmbeddedProtocol.subscription(protocols.get(0).metadata()).orElseThrow();
    }

    private static ErrorCode checkProtocols(
            ConsumerGroup group, JoinGroupRequest request, List<ClassicSnapshot.Protocol> protocols) {
        boolean isReadable = request.protocolType().equals(EmbeddedProtocol.TYPE)
                && !protocols.isEmpty()
                && EmbeddedProtocol.subscription(protocols.get(0).metadata()).isPresent();
        return isReadable && protocols.stream().anyMatch(protocol -> isFollowedByAll(group, protocol.name()))
                ? ErrorCode.NONE
                : ErrorCode.INCONSISTENT_GROUP_PROTOCOL;
    }

    private static boolean isFollowedByAll(ConsumerGroup group, String protocolName) {
        return group.members().values().stream()
                .allMatch(member -> !member.isClassic() || member.classic().supports(protocolName));
    }

    private ErrorCode checkJoin(ConsumerGroup group, JoinGroupRequest request) {
        String holder = request.groupInstanceId() == null ? null : group.memberOfInstance(request.groupInstanceId());
        if (holder != null) {
            return request.memberId().isEmpty() || request.memberId().equals(holder)
                    ? ErrorCode.NONE
                    : ErrorCode.FENCED_INSTANCE_ID;
        }
        if (request.groupInstanceId() != null && !request.memberId().isEmpty()) {
            return ErrorCode.UNKNOWN_MEMBER_ID;
        }
        MemberMetadata member = group.member(request.memberId());
        if (member != null && !member.isClassic()) {
            return ErrorCode.UNKNOWN_MEMBER_ID;
        }
        RequestError full = MemberRules.full(group, request.memberId(), limits);
        return full == null ? ErrorCode.NONE : full.code();
    }

    /** Responds to a SyncGroup request. */
    public SyncGroupResponse sync(ConsumerGroup group, SyncGroupRequest request, long nowMs) {
        ErrorCode error = checkMember(group, request.memberId(), request.groupInstanceId(), request.generationId());
        SyncGroupResponse response = new SyncGroupResponse().setAssignment(Unpooled.EMPTY_BUFFER);
        if (error != ErrorCode.NONE) {
            return response.setErrorCode(error.code());
        }
        String memberId = request.memberId();
        ClassicSnapshot.Protocol preferred =
                group.member(memberId).classic().protocols().get(0);
        boolean isOther = (request.protocolType() != null
                        && !request.protocolType().equals(EmbeddedProtocol.TYPE))
                || (request.protocolName() != null && !request.protocolName().equals(preferred.name()));
        if (isOther) {
            return response.setErrorCode(ErrorCode.INCONSISTENT_GROUP_PROTOCOL.code());
        }
        CurrentAssignment current = group.current(memberId);
        // A member with partitions to revoke has joined already: it must learn which partitions it keeps before it
        // joins again.
        if (current.memberEpoch() < group.epoch() && current.state() != State.UNREVOKED_PARTITIONS) {
            membership.awaitOnce(group, memberId, Kind.REBALANCE, nowMs);
            return response.setErrorCode(ErrorCode.REBALANCE_IN_PROGRESS.code());
        }
        membership.deadlines().cancel(new Subject(group.groupId(), memberId, Kind.SYNC));
        membership.awaitLife(group, memberId, nowMs);
        return response.setProtocolType(EmbeddedProtocol.TYPE)
                .setProtocolName(preferred.name())
                .setAssignment(Unpooled.wrappedBuffer(
                        EmbeddedProtocol.bytes(current.assigned(), membership.topics(), preferred.metadata())));
    }

    /** Responds to a heartbeat, and tells whether the member must join again. */
    public ErrorCode heartbeat(ConsumerGroup group, HeartbeatRequest request, long nowMs) {
        String memberId = request.memberId();
        ErrorCode error = checkMember(group, memberId, request.groupInstanceId(), request.generationId());
        if (error != ErrorCode.NONE) {
            return error;
        }
        membership.awaitLife(group, memberId, nowMs);
        // Nobody else may do it: the group can have only members of this protocol.
        membership.settle(group, nowMs);
        if (!hasNews(group, memberId)) {
            return ErrorCode.NONE;
        }
        membership.awaitOnce(group, memberId, Kind.REBALANCE, nowMs);
        return ErrorCode.REBALANCE_IN_PROGRESS;
    }

    /** Whether the member's assignment would change if it joined again. */
    private static boolean hasNews(ConsumerGroup group, String memberId) {
        CurrentAssignment current = group.current(memberId);
        if (current.memberEpoch() < group.epoch() || current.state() == State.UNREVOKED_PARTITIONS) {
            return true;
        }
        Assignment missing = group.target(memberId).minus(current.assigned());
        return current.state() == State.UNRELEASED_PARTITIONS
                && missing.size()
                        == missing.filter((topicId, partition) -> group.isFreeFor(memberId, topicId, partition))
                                .size();
    }

    /** Removes members by their ids or, if they are static, by their group instance ids. */
    public LeaveGroupResponse.MemberResponse leave(
            ConsumerGroup group, LeaveGroupRequest.MemberIdentity leaving, long nowMs) {
        String holder = leaving.groupInstanceId() == null ? null : group.memberOfInstance(leaving.groupInstanceId());
        String memberId = leaving.memberId().isEmpty() && holder != null ? holder : leaving.memberId();
        LeaveGroupResponse.MemberResponse response = new LeaveGroupResponse.MemberResponse()
                .setMemberId(leaving.memberId())
                .setGroupInstanceId(leaving.groupInstanceId());
        ErrorCode error = checkIdentity(group, memberId, leaving.groupInstanceId());
        if (error == ErrorCode.NONE) {
            membership.remove(group, memberId, nowMs);
        }
        return response.setErrorCode(error.code());
    }

    private static ErrorCode checkMember(ConsumerGroup group, String memberId, String instanceId, int generation) {
        ErrorCode error = checkIdentity(group, memberId, instanceId);
        if (error == ErrorCode.NONE && !group.member(memberId).isClassic()) {
            return ErrorCode.UNKNOWN_MEMBER_ID;
        }
        return error == ErrorCode.NONE && generation != group.current(memberId).memberEpoch()
                ? ErrorCode.ILLEGAL_GENERATION
                : error;
    }

    private static ErrorCode checkIdentity(ConsumerGroup group, String memberId, String instanceId) {
        if (instanceId != null) {
            String holder = group.memberOfInstance(instanceId);
            if (holder == null) {
                return ErrorCode.UNKNOWN_MEMBER_ID;
            }
            if (!holder.equals(memberId)) {
                return ErrorCode.FENCED_INSTANCE_ID;
            }
        }
        return group.member(memberId) == null ? ErrorCode.UNKNOWN_MEMBER_ID : ErrorCode.NONE;
    }
}
