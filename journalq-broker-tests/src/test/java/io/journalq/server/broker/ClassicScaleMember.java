package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ConsumerProtocolAssignment;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A member of a classic group, which revokes all its partitions before it rejoins. */
final class ClassicScaleMember implements ScaleMember {
    private static final int JOIN_VERSION = 9;
    private static final int SYNC_VERSION = 5;
    private static final int HEARTBEAT_VERSION = 4;
    private static final int LEAVE_VERSION = 5;

    /** Long enough that no member expires on a slow machine. */
    private static final int TIMEOUT_MS = 600_000;

    private static final short SUBSCRIPTION_VERSION = 1;

    private final MemberSockets.Connection connection;
    private final int group;
    private final String topic;
    private final int partitionCount;
    private String memberId = "";
    private int generation = -1;
    private boolean waits;
    private boolean isStable;
    private List<Integer> partitions = List.of();

    ClassicScaleMember(MemberSockets.Connection connection, int group, String topic, int partitionCount) {
        this.connection = connection;
        this.group = group;
        this.topic = topic;
        this.partitionCount = partitionCount;
    }

    @Override
    public int group() {
        return group;
    }

    @Override
    public void act() {
        if (waits) {
            return;
        }
        waits = true;
        if (isStable) {
            heartbeat();
        } else {
            join();
        }
    }

    private void join() {
        JoinGroupRequest request = new JoinGroupRequest()
                .setGroupId("group-" + group)
                .setMemberId(memberId)
                .setSessionTimeoutMs(TIMEOUT_MS)
                .setRebalanceTimeoutMs(TIMEOUT_MS)
                .setProtocolType("consumer")
                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                        .setName("range")
                        .setMetadata(subscription())));
        connection.send(request, JOIN_VERSION, JoinGroupResponse.class, this::onJoined);
    }

    private ByteBuf subscription() {
        MessageWriter out = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
        out.writeShort(SUBSCRIPTION_VERSION);
        new ConsumerProtocolSubscription().setTopics(List.of(topic)).write(out, SUBSCRIPTION_VERSION);
        return onHeap(out);
    }

    /** The written bytes, in a buffer that need not be released. */
    private static ByteBuf onHeap(MessageWriter out) {
        ByteBuf written = (ByteBuf) out.finish().get(0);
        byte[] bytes = ByteBufUtil.getBytes(written);
        written.release();
        return Unpooled.wrappedBuffer(bytes);
    }

    private void onJoined(JoinGroupResponse response) {
        memberId = response.memberId();
        if (response.errorCode() == ErrorCode.MEMBER_ID_REQUIRED.code()) {
            join();
            return;
        }
        expect(ErrorCode.NONE, response.errorCode());
        generation = response.generationId();
        SyncGroupRequest request = new SyncGroupRequest()
                .setGroupId("group-" + group)
                .setMemberId(memberId)
                .setGenerationId(generation)
                .setProtocolType(response.protocolType())
                .setProtocolName(response.protocolName())
                .setAssignments(response.leader().equals(memberId) ? assignments(response.members()) : List.of());
        connection.send(request, SYNC_VERSION, SyncGroupResponse.class, this::onSynced);
    }

    /** Distributes the partitions evenly: the numbers of two members differ by at most one. */
    private List<SyncGroupRequest.SyncGroupRequestAssignment> assignments(
            List<JoinGroupResponse.JoinGroupResponseMember> members) {
        List<SyncGroupRequest.SyncGroupRequestAssignment> assignments = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            int first = i;
            List<Integer> share = IntStream.iterate(first, next -> next < partitionCount, next -> next + members.size())
                    .boxed()
                    .toList();
            MessageWriter out = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
            out.writeShort(SUBSCRIPTION_VERSION);
            new ConsumerProtocolAssignment()
                    .setAssignedPartitions(List.of(new ConsumerProtocolAssignment.TopicPartition()
                            .setTopic(topic)
                            .setPartitions(share)))
                    .write(out, SUBSCRIPTION_VERSION);
            assignments.add(new SyncGroupRequest.SyncGroupRequestAssignment()
                    .setMemberId(members.get(i).memberId())
                    .setAssignment(onHeap(out)));
        }
        return assignments;
    }

    private void onSynced(SyncGroupResponse response) {
        waits = false;
        if (response.errorCode() == ErrorCode.REBALANCE_IN_PROGRESS.code()) {
            return;
        }
        expect(ErrorCode.NONE, response.errorCode());
        MessageReader in = new MessageReader(response.assignment().duplicate());
        short version = in.readShort();
        partitions = ConsumerProtocolAssignment.read(in, version).assignedPartitions().stream()
                .flatMap(assigned -> assigned.partitions().stream())
                .toList();
        isStable = true;
    }

    private void heartbeat() {
        HeartbeatRequest request = new HeartbeatRequest()
                .setGroupId("group-" + group)
                .setMemberId(memberId)
                .setGenerationId(generation);
        connection.send(request, HEARTBEAT_VERSION, HeartbeatResponse.class, response -> {
            waits = false;
            if (response.errorCode() == ErrorCode.REBALANCE_IN_PROGRESS.code()) {
                isStable = false;
                partitions = List.of();
            } else {
                expect(ErrorCode.NONE, response.errorCode());
            }
        });
    }

    @Override
    public void leave() {
        waits = true;
        LeaveGroupRequest request = new LeaveGroupRequest()
                .setGroupId("group-" + group)
                .setMembers(List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(memberId)));
        connection.send(request, LEAVE_VERSION, LeaveGroupResponse.class, response -> {
            waits = false;
            expect(ErrorCode.NONE, response.errorCode());
            expect(ErrorCode.NONE, response.members().get(0).errorCode());
        });
    }

    private void expect(ErrorCode expected, short code) {
        if (code != expected.code()) {
            throw new AssertionError("group " + group + ": " + ErrorCode.of(code));
        }
    }

    @Override
    public boolean waits() {
        return waits;
    }

    @Override
    public boolean mayWaitForOthers() {
        return !isStable;
    }

    @Override
    public boolean isStable() {
        return isStable;
    }

    @Override
    public int generation() {
        return generation;
    }

    @Override
    public List<Integer> partitions() {
        return partitions;
    }
}
