package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Members of the classic protocol in a group of the consumer protocol. */
class ClassicMembersTest {
    private static final int SESSION_TIMEOUT_MS = 6_000;
    private static final int REBALANCE_TIMEOUT_MS = 10_000;
    private static final Topics.Topic TOPIC = TestTopics.topic(1, "a-1", 2);

    private final TestCoordinator coordinator = new TestCoordinator(TestTopics.of(TOPIC));
    private long nowMs = 1_000;

    @Test
    void shouldGiveAMemberTheWholeTimeForItsAssignmentWhenItJoinsAgain() {
        // given a member that has joined and does not have its assignment yet
        heartbeat("consumer", 0);
        JoinGroupResponse joined = join();

        // when it joins again shortly before its time is over
        stayAliveFor(REBALANCE_TIMEOUT_MS - 1_000, joined);
        joined = join();

        // then the time begins again
        stayAliveFor(REBALANCE_TIMEOUT_MS - 1_000, joined);
        assertThat(coordinator.groups.group("group").member("classic-1")).isNotNull();
        nowMs += 1_001;
        coordinator.groups.onTick(nowMs);
        assertThat(coordinator.groups.group("group").member("classic-1")).isNull();
    }

    @Test
    void shouldAssignNewPartitionsWhenOnlyMembersOfTheClassicProtocolAreLeft() {
        // given a group whose last member of the consumer protocol has left
        heartbeat("consumer", 0);
        int generation = join(subscription()).generationId();
        heartbeat("consumer", CurrentAssignment.LEAVE_EPOCH);
        while (heartbeat(generation) == ErrorCode.REBALANCE_IN_PROGRESS) {
            generation = join(subscription()).generationId();
        }
        assertThat(coordinator
                        .groups
                        .group("group")
                        .current("classic-1")
                        .assigned()
                        .size())
                .isEqualTo(2);

        // when the topic gets more partitions
        coordinator.topics(TestTopics.of(TestTopics.topic(1, "a-1", 3)));

        // then its heartbeat tells the member to join again, and it gets the new one
        assertThat(heartbeat(generation)).isEqualTo(ErrorCode.REBALANCE_IN_PROGRESS);
        join(subscription());
        assertThat(coordinator
                        .groups
                        .group("group")
                        .current("classic-1")
                        .assigned()
                        .size())
                .isEqualTo(3);
    }

    private static byte[] subscription() {
        MessageWriter out = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
        out.writeShort((short) 0);
        new ConsumerProtocolSubscription().setTopics(List.of(TOPIC.name())).write(out, (short) 0);
        return ByteBufUtil.getBytes((ByteBuf) out.finish().get(0));
    }

    private void heartbeat(String memberId, int epoch) {
        coordinator.heartbeat(
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId("group")
                        .setMemberId(memberId)
                        .setMemberEpoch(epoch)
                        .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                        .setSubscribedTopicNames(List.of(TOPIC.name()))
                        .setTopicPartitions(List.of()),
                nowMs);
    }

    private JoinGroupResponse join() {
        return join(new byte[100]);
    }

    private JoinGroupResponse join(byte[] metadata) {
        JoinGroupResponse response = coordinator
                .groups
                .classicMembers()
                .join(
                        coordinator.groups.group("group"),
                        new Origin("client", "/127.0.0.1"),
                        (short) 5,
                        new JoinGroupRequest()
                                .setGroupId("group")
                                .setMemberId("classic-1")
                                .setSessionTimeoutMs(SESSION_TIMEOUT_MS)
                                .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                                .setProtocolType("consumer")
                                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                        .setName("range")
                                        .setMetadata(Unpooled.wrappedBuffer(metadata)))),
                        nowMs);
        assertThat(response.errorCode()).isZero();
        return response;
    }

    private void stayAliveFor(int durationMs, JoinGroupResponse joined) {
        for (int i = 0; i < durationMs; i += 1_000) {
            nowMs += 1_000;
            coordinator.groups.onTick(nowMs);
            assertThat(heartbeat(joined.generationId())).isEqualTo(ErrorCode.NONE);
        }
    }

    private ErrorCode heartbeat(int generation) {
        return coordinator
                .groups
                .classicMembers()
                .heartbeat(
                        coordinator.groups.group("group"),
                        new HeartbeatRequest()
                                .setGroupId("group")
                                .setMemberId("classic-1")
                                .setGenerationId(generation),
                        nowMs);
    }
}
