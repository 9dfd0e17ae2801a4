package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;

/** Checks whether a member may do what it requests, given its group. Pure functions. */
public final class MemberRules {
    private MemberRules() {}

    /** Why the heartbeat is rejected; null if it is not. Changes nothing. */
    static RequestError problem(
            ConsumerGroup group, String memberId, ConsumerGroupHeartbeatRequest request, ConsumerGroupLimits limits) {
        String holder = request.instanceId() == null ? null : group.memberOfInstance(request.instanceId());
        boolean isHeldByOther = holder != null && !holder.equals(memberId);
        if (request.memberEpoch() == 0) {
            return isHeldByOther ? unreleased(group, holder, request) : full(group, memberId, limits);
        }
        if (isHeldByOther) {
            return new RequestError(
                    ErrorCode.FENCED_INSTANCE_ID,
                    "Static member " + memberId + " with instance id " + request.instanceId() + " was fenced by member "
                            + holder + ".");
        }
        if (group.member(memberId) == null) {
            return new RequestError(
                    ErrorCode.UNKNOWN_MEMBER_ID, "Member " + memberId + " is not a member of the group.");
        }
        return epochProblem(group.current(memberId), request);
    }

    private static RequestError unreleased(ConsumerGroup group, String holder, ConsumerGroupHeartbeatRequest request) {
        // A static member of the classic protocol does not announce that it leaves: a member with its instance id
        // replaces it.
        if (group.member(holder).isClassic()
                || group.current(holder).memberEpoch() == CurrentAssignment.STATIC_LEFT_EPOCH) {
            return null;
        }
        return new RequestError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                "Static member with instance id " + request.instanceId() + " is used by member " + holder + ".");
    }

    static RequestError full(ConsumerGroup group, String memberId, ConsumerGroupLimits limits) {
        if (group.memberCount() < limits.sizeMax() || group.member(memberId) != null) {
            return null;
        }
        return tooMany(limits);
    }

    static RequestError tooMany(ConsumerGroupLimits limits) {
        return new RequestError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                "The consumer group has reached its maximum capacity of " + limits.sizeMax() + " members.");
    }

    /**
     * Checks the member epoch. The previous epoch is valid after a lost response, if the member uses no partitions that
     * it may not use.
     */
    private static RequestError epochProblem(CurrentAssignment current, ConsumerGroupHeartbeatRequest request) {
        int epoch = request.memberEpoch();
        if (epoch == current.memberEpoch()
                || (epoch < current.memberEpoch()
                        && epoch == current.previousMemberEpoch()
                        && usesAssignedOnly(current, request))) {
            return null;
        }
        return new RequestError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The member epoch " + epoch + " does not match the epoch of the coordinator, " + current.memberEpoch()
                        + ". The member must abandon all its partitions and rejoin.");
    }

    private static boolean usesAssignedOnly(CurrentAssignment current, ConsumerGroupHeartbeatRequest request) {
        return request.topicPartitions() != null
                && request.topicPartitions().stream().allMatch(topic -> topic.partitions().stream()
                        .allMatch(partition -> current.assigned().contains(topic.topicId(), partition)));
    }

    /**
     * Whether the sender may commit or fetch offsets.
     *
     * @param memberId empty or null for a sender that is not a member, such as an administrator
     * @param memberEpoch negative for such a sender
     * @param isCommit whether offsets are changed: while there are members, only members may do that
     * @return {@link ErrorCode#NONE} if it may
     */
    public static ErrorCode offsetAccess(ConsumerGroup group, String memberId, int memberEpoch, boolean isCommit) {
        boolean isAnonymous = memberId == null || memberId.isEmpty();
        if (memberEpoch < 0 && (isCommit ? group.isEmpty() : isAnonymous)) {
            return ErrorCode.NONE;
        }
        MemberMetadata member = memberId == null ? null : group.member(memberId);
        if (member == null) {
            return ErrorCode.UNKNOWN_MEMBER_ID;
        }
        if (memberEpoch == group.current(memberId).memberEpoch()) {
            return ErrorCode.NONE;
        }
        return member.isClassic() ? ErrorCode.ILLEGAL_GENERATION : ErrorCode.STALE_MEMBER_EPOCH;
    }

    /** Why a request is rejected: the error code for the client and a message for its user. */
    public record RequestError(ErrorCode code, String message) {}
}
