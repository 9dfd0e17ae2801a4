package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemberLimitsTest {
    private static JoinGroupRequest join(int metadataBytes) {
        return new JoinGroupRequest()
                .setProtocols(List.of(
                        new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.wrappedBuffer(new byte[metadataBytes / 2])),
                        new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("other")
                                .setMetadata(Unpooled.wrappedBuffer(new byte[metadataBytes / 2]))));
    }

    private static SyncGroupRequest sync(int assignmentBytes) {
        return new SyncGroupRequest()
                .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                        .setMemberId("m")
                        .setAssignment(Unpooled.wrappedBuffer(new byte[assignmentBytes]))));
    }

    @Test
    void shouldCountAllProtocolsOfAMemberThatJoins() {
        assertThat(MemberLimits.isWithin(join(MemberLimits.MAX_METADATA_BYTES - 10)))
                .isTrue();
        assertThat(MemberLimits.isWithin(join(MemberLimits.MAX_METADATA_BYTES))).isFalse();
        assertThat(MemberLimits.isWithin(join(10).setGroupInstanceId("i".repeat(1_025))))
                .isFalse();
    }

    @Test
    void shouldRefuseTextsThatNoRecordCanHave() {
        // Malformed UTF-8 grows when it is decoded, because each byte becomes a character of three bytes.
        String tooLong = "\uFFFD".repeat(11_000);
        assertThat(MemberLimits.isWithin(join(10).setMemberId(tooLong))).isFalse();
        assertThat(MemberLimits.isWithin(join(10).setProtocolType(tooLong))).isFalse();
        JoinGroupRequest named = join(10);
        named.protocols().get(1).setName(tooLong);
        assertThat(MemberLimits.isWithin(named)).isFalse();
        assertThat(MemberLimits.isWithin(new ConsumerGroupHeartbeatRequest()
                        .setMemberId("m")
                        .setSubscribedTopicNames(List.of("a", tooLong))))
                .isFalse();
    }

    @Test
    void shouldBoundWhatALeaderAssigns() {
        assertThat(MemberLimits.isWithin(sync(MemberLimits.MAX_ASSIGNMENTS_BYTES)))
                .isTrue();
        assertThat(MemberLimits.isWithin(sync(MemberLimits.MAX_ASSIGNMENTS_BYTES + 1)))
                .isFalse();
    }

    @Test
    void shouldBoundWhatAMemberOfTheConsumerProtocolSaysOfItself() {
        ConsumerGroupHeartbeatRequest usual = new ConsumerGroupHeartbeatRequest().setMemberId("m");
        assertThat(MemberLimits.isWithin(usual)).isTrue();
        String name = "n".repeat(32_000);
        assertThat(MemberLimits.isWithin(usual.setSubscribedTopicNames(java.util.Collections.nCopies(32, name))))
                .isTrue();
        assertThat(MemberLimits.isWithin(usual.setSubscribedTopicNames(java.util.Collections.nCopies(33, name))))
                .isFalse();
        assertThat(MemberLimits.isWithin(
                        new ConsumerGroupHeartbeatRequest().setMemberId("m").setRackId("r".repeat(1_025))))
                .isFalse();
        assertThat(MemberLimits.isWithin(new ConsumerGroupHeartbeatRequest().setMemberId("m".repeat(1_025))))
                .isFalse();
    }
}
