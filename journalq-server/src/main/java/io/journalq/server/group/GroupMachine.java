package io.journalq.server.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.DescribeGroupsResponse.DescribedGroup;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupResponse;
import io.journalq.common.protocol.message.ListGroupsResponse.ListedGroup;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ClassicSnapshot;
import io.journalq.server.group.consumer.ConsumerGroup;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.consumer.ConsumerGroups;
import io.journalq.server.group.consumer.GroupTimes;
import io.journalq.server.group.consumer.MemberRules.RequestError;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.group.model.Group;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.record.GroupMetadataKey;
import io.journalq.server.group.record.GroupMetadataValue;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.group.record.PendingOffsetKey;
import io.journalq.server.group.record.PendingOffsetValue;
import io.journalq.server.memory.MemoryAccount;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * All groups of one partition of the group topic. Finds the group of a request and passes the request to the class for
 * the group's type. This class itself implements only what all groups have in common.
 */
public final class GroupMachine implements CoordinatorMachine {
    /** Maximum length of a group id, in characters. */
    public static final int MAX_GROUP_ID_LENGTH = 1_024;

    private final GroupLimits limits;
    private final RetentionTime retentionTime;
    private final GroupCount count;
    private final MemoryAccount memory;
    private final Outbox outbox;
    private final TimerQueue deadlines = new TimerQueue();
    private final Map<String, Group> groups = new TreeMap<>();
    private final CommittedOffsets offsets;
    private final OffsetExpiry offsetExpiry;
    private final OffsetTruncation offsetTruncation;
    private final ClassicGroups classic;
    private final ConsumerGroups consumer;

    /** The last reported number of groups; -1 if none was reported yet. */
    private int toldCount = -1;

    /**
     * Creates a machine without groups.
     *
     * @param count the total number of groups, for the limit
     * @param memory charged with groups and offsets
     * @param retentionTime determines when committed offsets and empty groups expire
     * @param ids generates unique strings for member ids
     */
    public GroupMachine(
            GroupLimits limits,
            ConsumerGroupLimits consumerLimits,
            GroupCount count,
            GroupMemory memory,
            Outbox outbox,
            RetentionTime retentionTime,
            Supplier<String> ids) {
        this.limits = limits;
        this.retentionTime = retentionTime;
        this.count = count;
        this.outbox = outbox;
        this.memory = memory.ofGroups();
        this.offsets = new CommittedOffsets(limits, outbox, groups, memory.ofOffsets());
        this.offsetExpiry = new OffsetExpiry(offsets, groups, limits.offsetRetentionMs(), outbox);
        this.offsetTruncation = new OffsetTruncation(offsets, outbox);
        this.classic = new ClassicGroups(limits, deadlines, outbox, this.memory, ids, this::dropIfUnused);
        this.consumer = new ConsumerGroups(consumerLimits, outbox, this.memory, ids, this::moveToClassic);
    }

    @Override
    public void replay(CoordinatorRecord record) {
        if (record.key() instanceof OffsetCommitKey key) {
            offsets.replay(key, (OffsetCommitValue) record.value());
        } else if (record.key() instanceof PendingOffsetKey key) {
            offsets.replay(key, (PendingOffsetValue) record.value());
        } else if (record.key() instanceof GroupMetadataKey key) {
            replay(key.group(), (GroupMetadataValue) record.value());
        } else {
            replayConsumer(record);
        }
        tellCount();
    }

    private void tellCount() {
        int now = Math.max(groups.size(), offsets.groupCount());
        if (now != toldCount) {
            toldCount = now;
            count.set(now);
        }
    }

    /** Whether this id would create a new group while the maximum number of groups is reached. */
    private boolean isOneTooMany(String groupId) {
        return !groups.containsKey(groupId) && !offsets.hasOffsets(groupId) && count.isFull();
    }

    /** Drops a group that a client started to join but that never had a member. */
    private void dropIfUnused(ClassicGroup group) {
        if (group.isUnused()) {
            if (groups.get(group.id()) == group) {
                remove(group.id());
            }
            tellCount();
        }
    }

    private void replayConsumer(CoordinatorRecord record) {
        String groupId = consumer.replay(record);
        if (groupId == null) {
            throw new IllegalArgumentException("not a group record: " + record);
        }
        ConsumerGroup group = consumer.group(groupId);
        if (group != null) {
            put(group);
        } else if (groups.get(groupId) instanceof ConsumerGroup) {
            remove(groupId);
        }
    }

    private void replay(String groupId, GroupMetadataValue value) {
        if (value == null) {
            if (groups.get(groupId) instanceof ClassicGroup) {
                remove(groupId);
            }
            return;
        }
        if (!groups.containsKey(groupId)) {
            put(new ClassicGroup(groupId, 0));
        }
        if (groups.get(groupId) instanceof ClassicGroup group) {
            group.replay(value);
        }
    }

    private void put(Group group) {
        Group before = groups.put(group.id(), group);
        if (before != group) {
            if (before != null) {
                before.size().end();
            }
            group.size().begin(memory);
        }
    }

    private void remove(String groupId) {
        Group removed = groups.remove(groupId);
        if (removed != null) {
            removed.size().end();
        }
    }

    @Override
    public void onLoaded(long nowMs) {
        classic.at(nowMs);
        groups.values().forEach(group -> {
            if (group instanceof ClassicGroup one) {
                classic.onLoaded(one);
            }
        });
        consumer.onLoaded(nowMs);
        tellCount();
        scheduleExpiry(nowMs);
    }

    private void scheduleExpiry(long nowMs) {
        long dueMs = nowMs + limits.offsetCheckIntervalMs();
        deadlines.at(dueMs, () -> {
            // The clock can have been set since.
            offsetExpiry.expire(retentionTime.at(deadlines.nowMs()));
            scheduleExpiry(deadlines.nowMs());
        });
    }

    @Override
    public long onTick(long nowMs) {
        classic.at(nowMs);
        return Math.min(deadlines.run(nowMs), consumer.onTick(nowMs));
    }

    @Override
    public void onClockStep(long stepMs) {
        deadlines.onClockStep(stepMs);
        consumer.onClockStep(stepMs);
    }

    /** Committed offsets of groups of all types. */
    public CommittedOffsets offsets() {
        return offsets;
    }

    /** Corrects the offsets of partitions that have lost records. */
    public OffsetTruncation offsetTruncation() {
        return offsetTruncation;
    }

    /** A client joins a classic group. The reply is sent when the group's rebalance is complete. */
    public void onJoinGroup(
            Origin origin, short version, JoinGroupRequest request, long nowMs, Reply<JoinGroupResponse> reply) {
        classic.at(nowMs);
        ErrorCode error = checkJoin(request);
        if (error != ErrorCode.NONE) {
            reply.send(ClassicResponses.refusal(version, error, request.memberId()));
            return;
        }
        if (isOneTooMany(request.groupId())) {
            reply.send(ClassicResponses.refusal(version, ErrorCode.GROUP_MAX_SIZE_REACHED, request.memberId()));
            return;
        }
        Group group = groups.get(request.groupId());
        boolean isEmptyConsumerGroup = group instanceof ConsumerGroup && group.isEmpty();
        if ((group == null || isEmptyConsumerGroup) && !request.memberId().isEmpty()) {
            reply.send(ClassicResponses.refusal(version, ErrorCode.UNKNOWN_MEMBER_ID, request.memberId()));
            return;
        }
        if (isEmptyConsumerGroup) {
            group = replaceEmpty((ConsumerGroup) group);
        }
        if (group == null) {
            group = new ClassicGroup(request.groupId(), nowMs);
            put(group);
            tellCount();
        }
        if (group instanceof ClassicGroup joined) {
            classic.join(joined, origin, version, request, reply);
            dropIfUnused(joined);
        } else if (group instanceof ConsumerGroup joined) {
            JoinGroupResponse response = consumer.classicMembers().join(joined, origin, version, request, nowMs);
            ErrorCode refused = ErrorCode.of(response.errorCode());
            reply.send(
                    refused == ErrorCode.NONE
                            ? response
                            : ClassicResponses.refusal(version, refused, response.memberId()));
        }
    }

    /**
     * Replaces a group of the consumer protocol without members by a classic one that is empty since the same time: the
     * client may give up before it has joined, and then the offsets must not expire earlier.
     */
    private Group replaceEmpty(ConsumerGroup left) {
        List<CoordinatorRecord> records = new ArrayList<>(left.tombstones());
        records.add(ClassicGroup.emptyRecord(left.id(), left.epoch(), left.emptySinceMs()));
        outbox.append(records);
        return groups.get(left.id());
    }

    /**
     * Converts a group of the consumer protocol whose remaining members all use the classic protocol, unless it is too
     * large. Returns whether it did.
     */
    private boolean moveToClassic(ConsumerGroup left, long nowMs) {
        ClassicSnapshot snapshot = consumer.snapshot(left);
        if (!GroupAppends.fits(snapshot)) {
            return false;
        }
        consumer.cancelDeadlines(left);
        ClassicGroup next = ClassicGroup.of(snapshot, nowMs);
        List<CoordinatorRecord> records = new ArrayList<>(left.tombstones());
        records.add(next.toRecord(next.assignments(), nowMs));
        outbox.append(records);
        ClassicGroup group = (ClassicGroup) groups.get(left.id());
        classic.at(nowMs);
        classic.convert(group, snapshot);
        return true;
    }

    private static boolean isBadId(String groupId) {
        return groupId.isEmpty() || groupId.length() > MAX_GROUP_ID_LENGTH;
    }

    private ErrorCode checkJoin(JoinGroupRequest request) {
        if (isBadId(request.groupId())) {
            return ErrorCode.INVALID_GROUP_ID;
        }
        int timeoutMs = request.sessionTimeoutMs();
        return timeoutMs < limits.minSessionTimeoutMs() || timeoutMs > limits.maxSessionTimeoutMs()
                ? ErrorCode.INVALID_SESSION_TIMEOUT
                : ErrorCode.NONE;
    }

    /** A member requests its assignment. The leader's request carries the assignments of all members. */
    public void onSyncGroup(SyncGroupRequest request, long nowMs, Reply<SyncGroupResponse> reply) {
        classic.at(nowMs);
        if (groups.get(request.groupId()) instanceof ClassicGroup group) {
            classic.sync(group, request, reply);
        } else if (groups.get(request.groupId()) instanceof ConsumerGroup group) {
            reply.send(consumer.classicMembers().sync(group, request, nowMs));
        } else {
            reply.send(ClassicResponses.refusal(ErrorCode.UNKNOWN_MEMBER_ID));
        }
    }

    /** A member of a classic group sends a heartbeat, and learns whether there is a rebalance. */
    public void onHeartbeat(HeartbeatRequest request, long nowMs, Reply<HeartbeatResponse> reply) {
        classic.at(nowMs);
        if (groups.get(request.groupId()) instanceof ClassicGroup group) {
            classic.heartbeat(group, request, reply);
        } else if (groups.get(request.groupId()) instanceof ConsumerGroup group) {
            ErrorCode error = consumer.classicMembers().heartbeat(group, request, nowMs);
            reply.send(new HeartbeatResponse().setErrorCode(error.code()));
        } else {
            reply.send(new HeartbeatResponse().setErrorCode(ErrorCode.UNKNOWN_MEMBER_ID.code()));
        }
    }

    /** Replaces the topics. */
    public void onTopics(Topics topics) {
        consumer.onTopics(topics);
    }

    /** Replaces the timeouts and intervals of groups of the consumer protocol. */
    public void onTimes(GroupTimes.Lookup times) {
        consumer.onTimes(times);
    }

    /** A member of the consumer protocol joins, sends a heartbeat or leaves (KIP-848). */
    public void onConsumerHeartbeat(
            Origin origin,
            short version,
            ConsumerGroupHeartbeatRequest request,
            long nowMs,
            Reply<ConsumerGroupHeartbeatResponse> reply) {
        if (request.groupId().length() > MAX_GROUP_ID_LENGTH) {
            reply.send(new ConsumerGroupHeartbeatResponse()
                    .setErrorCode(ErrorCode.INVALID_GROUP_ID.code())
                    .setErrorMessage("A group id must not be longer than " + MAX_GROUP_ID_LENGTH + " characters."));
            return;
        }
        Group group = groups.get(request.groupId());
        if (group instanceof ClassicGroup before && !before.isEmpty()) {
            ClassicSnapshot snapshot = before.snapshot();
            RequestError error = consumer.conversionError(snapshot, request, version);
            if (error == null && !GroupAppends.fits(snapshot)) {
                error = new RequestError(
                        ErrorCode.GROUP_MAX_SIZE_REACHED,
                        "Group " + request.groupId() + " is too large to be converted while it has members.");
            }
            if (error != null) {
                reply.send(new ConsumerGroupHeartbeatResponse()
                        .setErrorCode(error.code().code())
                        .setErrorMessage(error.message()));
                return;
            }
            classic.dissolve(before);
            consumer.convert(snapshot, before.tombstones(), nowMs);
            group = groups.get(request.groupId());
        }
        if (isOneTooMany(request.groupId())) {
            reply.send(new ConsumerGroupHeartbeatResponse()
                    .setErrorCode(ErrorCode.GROUP_MAX_SIZE_REACHED.code())
                    .setErrorMessage("The broker has reached its maximum number of groups (group.max.count)."));
            return;
        }
        // Only a member that joins replaces an empty classic group.
        List<CoordinatorRecord> end = group != null && group.kind() == Group.Kind.CLASSIC && request.memberEpoch() == 0
                ? group.tombstones()
                : List.of();
        reply.send(consumer.onHeartbeat(origin, version, request, end, nowMs));
    }

    /** Describes a group of the consumer protocol; with an error if there is no group with this id. */
    public ConsumerGroupDescribeResponse.DescribedGroup describeConsumer(String groupId) {
        return consumer.describe(groupId);
    }

    /** Members leave. */
    public void onLeaveGroup(
            String groupId,
            List<LeaveGroupRequest.MemberIdentity> leaving,
            long nowMs,
            Reply<List<LeaveGroupResponse.MemberResponse>> reply) {
        classic.at(nowMs);
        List<LeaveGroupResponse.MemberResponse> responses = new ArrayList<>(leaving.size());
        for (LeaveGroupRequest.MemberIdentity one : leaving) {
            responses.add(leave(groups.get(groupId), one, nowMs));
        }
        reply.send(responses);
    }

    private LeaveGroupResponse.MemberResponse leave(Group from, LeaveGroupRequest.MemberIdentity one, long nowMs) {
        if (from instanceof ClassicGroup group) {
            LeaveGroupResponse.MemberResponse response = classic.leave(group, one);
            dropIfUnused(group);
            return response;
        }
        if (from instanceof ConsumerGroup group) {
            return consumer.classicMembers().leave(group, one, nowMs);
        }
        return new LeaveGroupResponse.MemberResponse()
                .setMemberId(one.memberId())
                .setGroupInstanceId(one.groupInstanceId())
                .setErrorCode(ErrorCode.UNKNOWN_MEMBER_ID.code());
    }

    /** Commits offsets; the results are in the order of the commits. */
    public void onOffsetCommit(
            String groupId,
            CommittedOffsets.Committer committer,
            List<CommittedOffsets.Commit> commits,
            long nowMs,
            Reply<List<ErrorCode>> reply) {
        ErrorCode error = isBadId(groupId) ? ErrorCode.INVALID_GROUP_ID : offsets.check(groupId, committer, nowMs);
        boolean tooMuch = error == ErrorCode.NONE && (isOneTooMany(groupId) || !offsets.hasRoom(groupId, commits));
        error = tooMuch ? ErrorCode.GROUP_MAX_SIZE_REACHED : error;
        if (error != ErrorCode.NONE) {
            reply.send(Collections.nCopies(commits.size(), error));
            return;
        }
        if (groups.get(groupId) instanceof ClassicGroup group) {
            classic.at(nowMs);
            classic.onSignOfLife(group, committer.memberId());
        }
        reply.send(offsets.commit(groupId, commits, nowMs));
    }

    /**
     * The producer of a transaction commits offsets, which take effect when the transaction commits. The caller has
     * checked with the transaction's coordinator that the partition of this group is part of the transaction.
     */
    public void onTransactionalOffsetCommit(
            String groupId,
            CommittedOffsets.Committer committer,
            CommittedOffsets.InTransaction transaction,
            long nowMs,
            Reply<List<ErrorCode>> reply) {
        ErrorCode error =
                isBadId(groupId) ? ErrorCode.INVALID_GROUP_ID : offsets.checkInTransaction(groupId, committer, nowMs);
        boolean tooMuch = error == ErrorCode.NONE
                && (isOneTooMany(groupId) || !offsets.hasRoomInTransaction(groupId, transaction));
        error = tooMuch ? ErrorCode.GROUP_MAX_SIZE_REACHED : error;
        // The producer sends it again, and the coordinator of its transaction is asked again.
        error = error == ErrorCode.NONE && offsets.isLate(transaction) ? ErrorCode.COORDINATOR_NOT_AVAILABLE : error;
        List<CommittedOffsets.Commit> commits = transaction.commits();
        if (error != ErrorCode.NONE) {
            reply.send(Collections.nCopies(commits.size(), error));
            return;
        }
        if (groups.get(groupId) instanceof ClassicGroup group) {
            classic.at(nowMs);
            classic.onSignOfLife(group, committer.memberId());
        }
        reply.send(offsets.commitInTransaction(groupId, transaction, nowMs));
    }

    /**
     * Ends a transaction: the offsets that its producer committed with it, in any group, take effect or are discarded.
     * The reply is sent when that is safe, or at once if there was nothing to do. It is TRANSACTION_COORDINATOR_FENCED if
     * a later coordinator has ended a transaction of the producer.
     *
     * @param transactionVersion 2 if the marker's epoch is one more than in the transaction (KIP-890), less otherwise
     * @param number of the marker: earlier confirmations of the transaction are outdated
     */
    public void onTransactionEnd(
            TransactionMarker marker, int transactionVersion, long number, Reply<ErrorCode> reply) {
        reply.send(offsets.onTransactionEnd(marker, transactionVersion, number));
    }

    /** The response to a rejected JoinGroup request. */
    public static JoinGroupResponse joinRefusal(short version, ErrorCode error, String memberId) {
        return ClassicResponses.refusal(version, error, memberId);
    }

    /** The response to a rejected SyncGroup request. */
    public static SyncGroupResponse syncRefusal(ErrorCode error) {
        return ClassicResponses.refusal(error);
    }

    /** Lists all groups. */
    public List<ListedGroup> list() {
        List<ListedGroup> all = new ArrayList<>();
        groups.values().forEach(group -> all.add(listed(group)));
        for (String groupId : offsets.groupIds()) {
            if (!groups.containsKey(groupId)) {
                all.add(listed(new ClassicGroup(groupId, 0)));
            }
        }
        return all;
    }

    private static ListedGroup listed(Group group) {
        return new ListedGroup()
                .setGroupId(group.id())
                .setProtocolType(group.protocolType())
                .setGroupState(group.stateName())
                .setGroupType(group.kind().protocolName());
    }

    /**
     * Describes a classic group, including one that has offsets and never had members; null if there is no group with
     * this id.
     */
    public DescribedGroup describe(String groupId) {
        Group group = groups.get(groupId);
        if (group == null && offsets.hasOffsets(groupId)) {
            group = new ClassicGroup(groupId, 0);
        }
        return group instanceof ClassicGroup one ? ClassicGroupDescription.of(one) : null;
    }

    /** Deletes a group without members, together with its offsets. */
    public void onDeleteGroup(String groupId, Reply<ErrorCode> reply) {
        Group group = groups.get(groupId);
        if (group == null && !offsets.hasOffsets(groupId)) {
            reply.send(ErrorCode.GROUP_ID_NOT_FOUND);
        } else if (group != null && !group.isEmpty()) {
            reply.send(ErrorCode.NON_EMPTY_GROUP);
        } else {
            OffsetAppends.append(outbox, offsets.tombstones(groupId));
            if (group != null) {
                outbox.append(group.tombstones());
            }
            reply.send(ErrorCode.NONE);
        }
    }
}
