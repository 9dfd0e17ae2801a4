package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A group member of the classic protocol. It joins, and as leader of a generation assigns the partitions. */
public final class SimClassicMember extends SimGroupMember {
    private static final int JOIN_VERSION = 9;
    private static final int SYNC_VERSION = 5;
    private static final int HEARTBEAT_VERSION = 4;
    private static final int LEAVE_VERSION = 5;
    private static final int SESSION_TIMEOUT_MS = 200;
    private static final int REBALANCE_TIMEOUT_MS = 300;
    private static final String TYPE = "consumer";
    private static final String PROTOCOL = "simulated";

    private String memberId = "";
    private int generation = -1;

    public SimClassicMember(World world, GroupHistory group, List<Topic> topics) {
        super(world, group, topics);
    }

    @Override
    void onConnected() {
        world().later(1, generation < 0 ? this::join : this::heartbeat);
    }

    @Override
    OffsetCommitSender.Member identity() {
        return new OffsetCommitSender.Member(memberId, generation);
    }

    @Override
    boolean isClassic() {
        return true;
    }

    private void forget() {
        memberId = "";
        generation = -1;
        owned().clear();
    }

    private void join() {
        owned().clear();
        JoinGroupRequest request = new JoinGroupRequest()
                .setGroupId(group().name())
                .setSessionTimeoutMs(SESSION_TIMEOUT_MS)
                .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                .setMemberId(memberId)
                .setProtocolType(TYPE)
                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                        .setName(PROTOCOL)
                        .setMetadata(Unpooled.EMPTY_BUFFER)));
        connection().send(ApiKey.JOIN_GROUP, JOIN_VERSION, request, message -> {
            if (message instanceof JoinGroupResponse joined && joined.errorCode() == 0) {
                group().onGeneration(joined.generationId(), joined.leader());
            }
            world().deliver(() -> onJoined(message instanceof JoinGroupResponse joined ? joined : null));
        });
    }

    private void onJoined(JoinGroupResponse joined) {
        ErrorCode error = joined == null ? ErrorCode.UNKNOWN_SERVER_ERROR : ErrorCode.of(joined.errorCode());
        if (error == ErrorCode.NONE) {
            memberId = joined.memberId();
            generation = joined.generationId();
            sync(joined.leader().equals(memberId) ? divide(joined) : List.of());
        } else {
            memberId = error == ErrorCode.MEMBER_ID_REQUIRED ? joined.memberId() : "";
            generation = -1;
            world().later(10, this::join);
        }
    }

    /** Assigns each partition to one member, in turn. */
    private List<SyncGroupRequest.SyncGroupRequestAssignment> divide(JoinGroupResponse joined) {
        List<StringBuilder> parts =
                joined.members().stream().map(member -> new StringBuilder()).toList();
        int next = 0;
        for (Topic topic : subscribed()) {
            for (PartitionHistory partition : topic.partitions()) {
                parts.get(next++ % parts.size())
                        .append(topic.name())
                        .append(':')
                        .append(partition.partition())
                        .append(',');
            }
        }
        List<SyncGroupRequest.SyncGroupRequestAssignment> assignments = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            byte[] part = parts.get(i).toString().getBytes(StandardCharsets.US_ASCII);
            assignments.add(new SyncGroupRequest.SyncGroupRequestAssignment()
                    .setMemberId(joined.members().get(i).memberId())
                    .setAssignment(Unpooled.wrappedBuffer(part)));
        }
        return assignments;
    }

    private void sync(List<SyncGroupRequest.SyncGroupRequestAssignment> assignments) {
        SyncGroupRequest request = new SyncGroupRequest()
                .setGroupId(group().name())
                .setGenerationId(generation)
                .setMemberId(memberId)
                .setProtocolType(TYPE)
                .setProtocolName(PROTOCOL)
                .setAssignments(assignments);
        connection().send(ApiKey.SYNC_GROUP, SYNC_VERSION, request, message -> {
            ErrorCode error = message instanceof SyncGroupResponse response
                    ? ErrorCode.of(response.errorCode())
                    : ErrorCode.UNKNOWN_SERVER_ERROR;
            List<PartitionHistory> granted =
                    error == ErrorCode.NONE ? read(((SyncGroupResponse) message).assignment()) : List.of();
            if (error == ErrorCode.NONE) {
                group().onSynced(generation);
            }
            granted.forEach(partition -> group().onGranted(partition, memberId, generation));
            world().deliver(() -> {
                if (error == ErrorCode.NONE) {
                    owned().addAll(granted);
                    rest();
                } else {
                    onRefused(error);
                }
            });
        });
    }

    private List<PartitionHistory> read(ByteBuf assignment) {
        List<PartitionHistory> granted = new ArrayList<>();
        String text = assignment.toString(StandardCharsets.US_ASCII);
        for (Topic topic : subscribed()) {
            for (PartitionHistory partition : topic.partitions()) {
                if (text.contains(topic.name() + ":" + partition.partition() + ",")) {
                    granted.add(partition);
                }
            }
        }
        return granted;
    }

    private void onRefused(ErrorCode error) {
        if (error == ErrorCode.UNKNOWN_MEMBER_ID || error == ErrorCode.ILLEGAL_GENERATION) {
            forget();
        }
        world().later(10, this::join);
    }

    @Override
    void heartbeat() {
        HeartbeatRequest request = new HeartbeatRequest()
                .setGroupId(group().name())
                .setGenerationId(generation)
                .setMemberId(memberId);
        connection().send(ApiKey.HEARTBEAT, HEARTBEAT_VERSION, request, message -> world().deliver(() -> {
            ErrorCode error = message instanceof HeartbeatResponse response
                    ? ErrorCode.of(response.errorCode())
                    : ErrorCode.UNKNOWN_SERVER_ERROR;
            boolean wait =
                    error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS || error == ErrorCode.COORDINATOR_NOT_AVAILABLE;
            if (error == ErrorCode.NONE || wait) {
                rest();
            } else {
                onRefused(error);
            }
        }));
    }

    @Override
    void leave() {
        LeaveGroupRequest request = new LeaveGroupRequest()
                .setGroupId(group().name())
                .setMembers(List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(memberId)));
        forget();
        connection().send(ApiKey.LEAVE_GROUP, LEAVE_VERSION, request, message -> world().deliver(
                        () -> world().later(10, this::join)));
    }
}
