package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse.DescribedGroup;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.MemberDeadlines.Kind;
import io.journalq.server.group.consumer.MemberDeadlines.Subject;
import io.journalq.server.group.consumer.MemberRules.RequestError;
import io.journalq.server.group.consumer.Reconciliation.Claim;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.StatePart;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The groups of the consumer protocol (KIP-848) of one coordinator. This part of its machine handles
 * ConsumerGroupHeartbeat, and removes members that time out or do not revoke partitions in time. Responses are
 * returned, and are valid once the records appended in the meantime are safe. One thread: that of the coordinator's
 * host.
 */
public final class ConsumerGroups {
    private final ConsumerGroupLimits limits;
    private final Outbox outbox;
    private final MemoryAccount memory;
    private final Supplier<String> memberIds;
    private final MemberLifecycle membership;
    private final ClassicMembers classicMembers;
    private final ConsumerGroupReplay replay;
    private final SortedMap<String, ConsumerGroup> groups = new TreeMap<>();

    /**
     * Creates an instance without groups, and without topics until {@link #onTopics} is called.
     *
     * @param memory checked for room before a group grows
     * @param memberIds generates a unique id for each member that does not bring one
     * @param classicTurn called with each group that must be converted back to a classic group
     */
    public ConsumerGroups(
            ConsumerGroupLimits limits,
            Outbox outbox,
            MemoryAccount memory,
            Supplier<String> memberIds,
            MemberLifecycle.ClassicTurn classicTurn) {
        this.memory = memory;
        this.limits = limits;
        this.outbox = outbox;
        this.memberIds = memberIds;
        this.membership = new MemberLifecycle(limits, outbox, classicTurn);
        this.classicMembers = new ClassicMembers(limits, memory, membership, memberIds);
        this.replay = new ConsumerGroupReplay(groups);
    }

    /** Members of these groups that use the classic protocol. */
    public ClassicMembers classicMembers() {
        return classicMembers;
    }

    /** Applies a record. Returns the id of its group; null if it is not a record of consumer groups. */
    public String replay(CoordinatorRecord record) {
        return replay.replay(record.key(), record.value());
    }

    /** Called after all records are replayed. */
    public void onLoaded(long nowMs) {
        membership.deadlines().clear();
        replay.onLoaded();
        for (ConsumerGroup group : groups.values()) {
            for (String memberId : group.members().keySet()) {
                membership.awaitLife(group, memberId, nowMs);
                membership.awaitRevocation(group, memberId, nowMs);
            }
        }
    }

    /** Replaces the topics. Each group is updated with its next heartbeat. */
    public void onTopics(Topics newTopics) {
        membership.setTopics(newTopics);
    }

    /** Replaces the timeouts and intervals; deadlines that are set stay as they are. */
    public void onTimes(GroupTimes.Lookup newTimes) {
        membership.setTimes(newTimes);
    }

    /** As {@link CoordinatorMachine#onClockStep}. */
    public void onClockStep(long stepMs) {
        membership.deadlines().onClockStep(stepMs);
    }

    /**
     * Removes members whose deadline has passed, and makes delayed assignments. Returns the latest time for the next
     * call.
     */
    public long onTick(long nowMs) {
        MemberDeadlines deadlines = membership.deadlines();
        for (Subject due = deadlines.pollDue(nowMs); due != null; due = deadlines.pollDue(nowMs)) {
            ConsumerGroup group = groups.get(due.groupId());
            if (group != null && due.kind() == Kind.ASSIGNMENT) {
                membership.settle(group, nowMs);
            } else if (group != null && group.member(due.memberId()) != null) {
                membership.remove(group, due.memberId(), nowMs);
            }
        }
        return deadlines.nextMs();
    }

    /** The group with this id; null if there is none of this protocol. */
    public ConsumerGroup group(String groupId) {
        return groups.get(groupId);
    }

    /** All groups, by id. */
    public Collection<ConsumerGroup> all() {
        return Collections.unmodifiableCollection(groups.values());
    }

    /** Handles ConsumerGroupHeartbeat, versions 0 and 1. */
    public ConsumerGroupHeartbeatResponse onHeartbeat(
            Origin client, short version, ConsumerGroupHeartbeatRequest request, long nowMs) {
        return onHeartbeat(client, version, request, List.of(), nowMs);
    }

    /**
     * The same for a group that may replace another one.
     *
     * @param end the records that delete the other group; appended unless the request is refused
     */
    public ConsumerGroupHeartbeatResponse onHeartbeat(
            Origin client,
            short version,
            ConsumerGroupHeartbeatRequest request,
            List<CoordinatorRecord> end,
            long nowMs) {
        RequestError error = HeartbeatRules.problem(request, version, limits);
        if (error != null) {
            return refuse(error.code(), error.message());
        }
        if (request.memberEpoch() < 0) {
            return leave(request, nowMs);
        }
        ConsumerGroup group = groups.get(request.groupId());
        if (group == null) {
            if (request.memberEpoch() > 0) {
                return unknownMember(request.memberId());
            }
            group = new ConsumerGroup(request.groupId());
            group.onLoaded();
        }
        String memberId = request.memberId().isEmpty() ? memberIds.get() : request.memberId();
        error = MemberRules.problem(group, memberId, request, limits);
        if (error != null) {
            return refuse(error.code(), error.message());
        }
        if (!memory.hasRoom(GroupGrowth.of(group, memberId, request, membership.topics()))) {
            return refuse(
                    ErrorCode.GROUP_MAX_SIZE_REACHED,
                    "The memory limit of groups is reached (" + StatePart.GROUPS.setting() + ").");
        }
        outbox.append(end);
        groups.put(group.groupId(), group);
        return heartbeat(group, memberId, client, request, nowMs);
    }

    private ConsumerGroupHeartbeatResponse heartbeat(
            ConsumerGroup group, String memberId, Origin client, ConsumerGroupHeartbeatRequest request, long nowMs) {
        Assignment before = group.current(memberId).assigned();
        List<CoordinatorRecord> change = memberChange(group, memberId, client, request);
        membership.update(group, memberId, change, claimOf(request), nowMs);
        membership.awaitRevocation(group, memberId, nowMs);
        CurrentAssignment current = group.current(memberId);
        ConsumerGroupHeartbeatResponse response = new ConsumerGroupHeartbeatResponse()
                .setMemberId(memberId)
                .setMemberEpoch(current.memberEpoch())
                .setHeartbeatIntervalMs(membership.timesOf(group).heartbeatIntervalMs());
        // A member that reports what it owns may have missed the response with its assignment.
        boolean asksForAll = request.memberEpoch() == 0 || request.topicPartitions() != null;
        if (asksForAll || !current.assigned().equals(before)) {
            response.setAssignment(ConsumerGroupViews.heartbeatAssignment(current.assigned()));
        }
        return response;
    }

    private static Claim claimOf(ConsumerGroupHeartbeatRequest request) {
        if (request.memberEpoch() == 0) {
            return Claim.NOTHING;
        }
        if (request.topicPartitions() == null) {
            return Claim.UNKNOWN;
        }
        return partitions -> request.topicPartitions().stream().anyMatch(topic -> topic.partitions().stream()
                .anyMatch(partition -> partitions.contains(topic.topicId(), partition)));
    }

    private List<CoordinatorRecord> memberChange(
            ConsumerGroup group, String memberId, Origin client, ConsumerGroupHeartbeatRequest request) {
        List<CoordinatorRecord> records = new ArrayList<>();
        MemberMetadata before = group.member(memberId);
        String replaced = request.instanceId() == null ? null : group.memberOfInstance(request.instanceId());
        if (replaced != null && !replaced.equals(memberId)) {
            if (before == null) {
                before = group.member(replaced);
                records.addAll(membership.replacement(group, replaced, memberId));
            } else {
                // The member keeps its own assignment. Nobody would come back for that of the other one.
                records.addAll(membership.removal(group, replaced));
            }
        }
        MemberMetadata after = updated(before, client, request);
        if (!after.equals(group.member(memberId))) {
            records.add(ConsumerGroupRecords.member(group.groupId(), memberId, after));
        }
        return records;
    }

    /** The member's previous metadata, updated from the request. When a member joins, all of it is replaced. */
    private static MemberMetadata updated(MemberMetadata before, Origin client, ConsumerGroupHeartbeatRequest request) {
        boolean joins = request.memberEpoch() == 0 || before == null;
        String regex = request.subscribedTopicRegex();
        if (regex == null && !joins) {
            regex = before.topicRegex();
        }
        List<String> names = request.subscribedTopicNames();
        if (names == null) {
            names = joins ? List.of() : before.topicNames();
        }
        return new MemberMetadata(
                joins ? request.instanceId() : before.instanceId(),
                joins || request.rackId() != null ? request.rackId() : before.rackId(),
                client.clientId(),
                client.clientHost(),
                names,
                regex == null || regex.isEmpty() ? null : regex,
                request.rebalanceTimeoutMs() < 0 && !joins ? before.rebalanceTimeoutMs() : request.rebalanceTimeoutMs(),
                joins || request.serverAssignor() != null ? request.serverAssignor() : before.serverAssignor(),
                null);
    }

    private ConsumerGroupHeartbeatResponse leave(ConsumerGroupHeartbeatRequest request, long nowMs) {
        ConsumerGroup group = groups.get(request.groupId());
        String memberId = request.memberId();
        if (request.instanceId() != null && group != null) {
            String holder = group.memberOfInstance(request.instanceId());
            if (holder == null) {
                return refuse(ErrorCode.UNKNOWN_MEMBER_ID, "Instance id " + request.instanceId() + " is unknown.");
            }
            if (!holder.equals(memberId)) {
                return refuse(
                        ErrorCode.FENCED_INSTANCE_ID,
                        "Static member " + memberId + " with instance id " + request.instanceId()
                                + " was fenced by member " + holder + ".");
            }
        }
        if (group == null || group.member(memberId) == null) {
            return unknownMember(memberId);
        }
        if (request.memberEpoch() == CurrentAssignment.STATIC_LEFT_EPOCH
                && group.member(memberId).instanceId() != null) {
            CurrentAssignment away = group.current(memberId).awayForAWhile();
            outbox.append(List.of(ConsumerGroupRecords.current(group.groupId(), memberId, away)));
            membership.awaitRevocation(group, memberId, nowMs);
        } else {
            membership.remove(group, memberId, nowMs);
        }
        return new ConsumerGroupHeartbeatResponse().setMemberId(memberId).setMemberEpoch(request.memberEpoch());
    }

    /** Why the client that sends this request cannot convert the classic group; null if it can. */
    public RequestError conversionError(ClassicSnapshot classic, ConsumerGroupHeartbeatRequest request, short version) {
        RequestError error = HeartbeatRules.problem(request, version, limits);
        if (error != null) {
            return error;
        }
        boolean canRead = classic.members().stream().allMatch(GroupProtocolMigration::isReadable);
        if (request.memberEpoch() != 0 || !limits.migration().upgrades() || !canRead) {
            return new RequestError(
                    ErrorCode.GROUP_ID_NOT_FOUND, "Group " + request.groupId() + " is not a consumer group.");
        }
        boolean replaces = classic.members().stream()
                .anyMatch(member ->
                        member.instanceId() != null && member.instanceId().equals(request.instanceId()));
        return replaces || classic.members().size() < limits.sizeMax() ? null : MemberRules.tooMany(limits);
    }

    /**
     * Converts a classic group. Its members keep their assignments, and are asked to join again when these change.
     *
     * @param end the records that delete the classic group, appended together with those of the new group
     */
    public void convert(ClassicSnapshot classic, List<CoordinatorRecord> end, long nowMs) {
        List<CoordinatorRecord> records = new ArrayList<>(end);
        records.addAll(GroupProtocolMigration.records(classic, membership.topics(), nowMs));
        outbox.append(records);
        ConsumerGroup group = groups.get(classic.groupId());
        group.members().keySet().forEach(memberId -> membership.awaitLife(group, memberId, nowMs));
    }

    /** The members of a group that can be converted to the classic protocol. */
    public ClassicSnapshot snapshot(ConsumerGroup group) {
        return GroupProtocolMigration.snapshot(group, membership.topics());
    }

    /** Called when a group is converted to the classic protocol. */
    public void cancelDeadlines(ConsumerGroup group) {
        group.members().keySet().forEach(memberId -> membership.deadlines().cancelAll(group.groupId(), memberId));
    }

    /** Describes a group for ConsumerGroupDescribe. */
    public DescribedGroup describe(String groupId) {
        ConsumerGroup group = groups.get(groupId);
        if (group == null) {
            return new DescribedGroup()
                    .setGroupId(groupId)
                    .setErrorCode(ErrorCode.GROUP_ID_NOT_FOUND.code())
                    .setErrorMessage("Group " + groupId + " is not a consumer group.");
        }
        return ConsumerGroupViews.describe(group, membership.assignorOf(group).assignorName(), membership.topics());
    }

    private static ConsumerGroupHeartbeatResponse unknownMember(String memberId) {
        return refuse(ErrorCode.UNKNOWN_MEMBER_ID, "Member " + memberId + " is not a member of the group.");
    }

    private static ConsumerGroupHeartbeatResponse refuse(ErrorCode code, String message) {
        return new ConsumerGroupHeartbeatResponse().setErrorCode(code.code()).setErrorMessage(message);
    }
}
