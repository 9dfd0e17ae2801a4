package io.journalq.server.shard.coordinator.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.CommittedOffsets;
import io.journalq.server.group.GroupLimits;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The limit on the number of groups of all partitions, and groups that never had a member. */
class GroupCountsTest {
    private static final int SESSION_MS = 10_000;
    private static final GroupLimits LIMITS = new GroupLimits(100, 1, 100_000, 0, 100, 50_000, 1_000);
    private static final Origin CLIENT = new Origin("client", "/127.0.0.1");

    private final GroupCounts counts = new GroupCounts(2);
    private final Machine first = new Machine(0);
    private final Machine second = new Machine(1);
    private long nowMs = 1_000;
    private int lastId;

    /** A partition's machine and its records. */
    private final class Machine {
        private final int partition;
        private final List<CoordinatorRecord> journal = new ArrayList<>();
        private GroupMachine groups;

        Machine(int partition) {
            this.partition = partition;
            load();
        }

        void load() {
            groups = new GroupMachine(
                    LIMITS,
                    ConsumerGroupLimits.DEFAULT,
                    counts.of(partition),
                    GroupMemory.UNBOUNDED,
                    this::append,
                    RetentionTime.CLOCK,
                    () -> "id" + ++lastId);
            journal.forEach(groups::replay);
            groups.onLoaded(nowMs);
        }

        private void append(List<CoordinatorRecord> records) {
            journal.addAll(records);
            records.forEach(groups::replay);
        }

        /** Joins without a member id, in the version before one was required: the client becomes a member at once. */
        JoinGroupResponse join(String group) {
            return join(group, 3, "consumer");
        }

        JoinGroupResponse join(String group, int version, String protocolType) {
            JoinGroupRequest request = new JoinGroupRequest()
                    .setGroupId(group)
                    .setSessionTimeoutMs(SESSION_MS)
                    .setRebalanceTimeoutMs(SESSION_MS)
                    .setProtocolType(protocolType)
                    .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                            .setName("range")
                            .setMetadata(Unpooled.EMPTY_BUFFER)));
            Response<JoinGroupResponse> response = new Response<>();
            groups.onJoinGroup(CLIENT, (short) version, request, nowMs, response);
            groups.onTick(nowMs);
            return response.value;
        }

        List<ErrorCode> commit(String group) {
            Response<List<ErrorCode>> response = new Response<>();
            CommittedOffsets.Commit commit = new CommittedOffsets.Commit("t", Uuid.ZERO, 0, 7, -1, -1, null);
            groups.onOffsetCommit(
                    group, new CommittedOffsets.Committer("", null, -1), List.of(commit), nowMs, response);
            return response.value;
        }

        ErrorCode delete(String group) {
            Response<ErrorCode> response = new Response<>();
            groups.onDeleteGroup(group, response);
            return response.value;
        }
    }

    private static final class Response<T> implements Reply<T> {
        private T value;

        @Override
        public void send(T response) {
            value = response;
        }

        @Override
        public void fail(ErrorCode error) {
            throw new AssertionError(error);
        }
    }

    @Test
    void shouldRefuseANewGroupOfAnyKindWhenAllPartitionsTogetherHaveAsManyAsTheyMay() {
        // given one group on each of two partitions, which is the limit
        JoinGroupResponse joined = first.join("a");
        assertThat(joined.errorCode()).isEqualTo(ErrorCode.NONE.code());
        assertThat(second.commit("b")).containsExactly(ErrorCode.NONE);
        assertThat(counts.total()).isEqualTo(2);

        // then no other group can be created on any partition
        short full = ErrorCode.GROUP_MAX_SIZE_REACHED.code();
        assertThat(first.join("c").errorCode()).isEqualTo(full);
        assertThat(second.join("d").errorCode()).isEqualTo(full);
        assertThat(first.commit("e")).containsExactly(ErrorCode.GROUP_MAX_SIZE_REACHED);
        ConsumerGroupHeartbeatResponse heartbeat = consumerHeartbeat(second, "f");
        assertThat(heartbeat.errorCode()).isEqualTo(full);
        assertThat(heartbeat.errorMessage()).contains("group.max.count");

        // and the existing groups continue, also with new members
        assertThat(second.commit("b")).containsExactly(ErrorCode.NONE);
        assertThat(second.join("b").errorCode()).isEqualTo(ErrorCode.NONE.code());
        Response<HeartbeatResponse> alive = new Response<>();
        first.groups.onHeartbeat(
                new HeartbeatRequest()
                        .setGroupId("a")
                        .setMemberId(joined.memberId())
                        .setGenerationId(joined.generationId()),
                nowMs,
                alive);
        assertThat(alive.value.errorCode()).isNotEqualTo(ErrorCode.UNKNOWN_MEMBER_ID.code());
        assertThat(counts.total()).isEqualTo(2);
    }

    @Test
    void shouldTakeANewGroupWhenAnotherIsDeleted() {
        first.commit("a");
        second.commit("b");
        assertThat(first.commit("c")).containsExactly(ErrorCode.GROUP_MAX_SIZE_REACHED);

        assertThat(second.delete("b")).isEqualTo(ErrorCode.NONE);

        assertThat(first.commit("c")).containsExactly(ErrorCode.NONE);
        assertThat(second.commit("b")).containsExactly(ErrorCode.GROUP_MAX_SIZE_REACHED);
    }

    @Test
    void shouldCountAMachineOnceWhenItIsReloaded() {
        first.commit("a");
        first.load();
        first.load();

        assertThat(counts.total()).isEqualTo(1);
        assertThat(second.commit("b")).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldLeaveNoGroupWhenAJoinIsRefused() {
        // when a client joins without a protocol type
        JoinGroupResponse refused = first.join("a", 3, "");

        assertThat(refused.errorCode()).isEqualTo(ErrorCode.INCONSISTENT_GROUP_PROTOCOL.code());
        assertThat(first.groups.list()).isEmpty();
        assertThat(counts.total()).isZero();
    }

    @Test
    void shouldLeaveNoGroupWhenAClientIsGivenAnIdAndNeverComesBack() {
        // given a client that is told to join again with its new member id (KIP-394)
        assertThat(first.join("a", 4, "consumer").errorCode()).isEqualTo(ErrorCode.MEMBER_ID_REQUIRED.code());
        assertThat(counts.total()).isEqualTo(1);

        // when the time for that has passed
        nowMs += SESSION_MS;
        first.groups.onTick(nowMs);

        // then
        assertThat(first.groups.list()).isEmpty();
        assertThat(counts.total()).isZero();
    }

    @Test
    void shouldKeepAGroupThatHadMembersWhenAnotherClientNeverComesBack() {
        // given a group whose only member is removed when its session times out
        first.join("a");
        nowMs += 10 * SESSION_MS;
        first.groups.onTick(nowMs);
        first.commit("a");
        // when a client requests an id and does not return
        first.join("a", 4, "consumer");
        nowMs += SESSION_MS;
        first.groups.onTick(nowMs);
        // then the group still exists
        assertThat(first.groups.list()).hasSize(1);
    }

    private ConsumerGroupHeartbeatResponse consumerHeartbeat(Machine machine, String group) {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group)
                .setMemberId("member")
                .setMemberEpoch(0)
                .setRebalanceTimeoutMs(SESSION_MS)
                .setSubscribedTopicNames(List.of("t"))
                .setTopicPartitions(List.of());
        Response<ConsumerGroupHeartbeatResponse> response = new Response<>();
        machine.groups.onConsumerHeartbeat(CLIENT, (short) 1, request, nowMs, response);
        return response.value;
    }
}
