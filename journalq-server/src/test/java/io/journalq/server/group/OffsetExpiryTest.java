package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.record.GroupMetadataKey;
import io.journalq.server.group.record.GroupMetadataValue;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The retention of committed offsets. */
class OffsetExpiryTest {
    private static final long RETENTION_MS = 10_000;
    private static final GroupLimits LIMITS = new GroupLimits(100, 1, 100_000, 0, 5, RETENTION_MS, 1_000);

    /** The time beyond which the clock is not trusted. */
    private long trustedMs = Long.MAX_VALUE;

    private final GroupMachine machine = new GroupMachine(
            LIMITS,
            ConsumerGroupLimits.DEFAULT,
            GroupCount.UNLIMITED,
            GroupMemory.UNBOUNDED,
            this::append,
            nowMs -> Math.min(nowMs, trustedMs),
            () -> "id");

    private void append(List<CoordinatorRecord> records) {
        records.forEach(machine::replay);
    }

    private List<ErrorCode> commit(int partition, long offset, String metadata, long nowMs) {
        return machine.offsets()
                .commit(
                        "g",
                        List.of(new CommittedOffsets.Commit("t", new Uuid(1, 1), partition, offset, 3, 4, metadata)),
                        nowMs);
    }

    @Test
    void shouldExpireOffsetsOfAGroupWithoutMembersAfterTheirRetention() {
        machine.onLoaded(0);
        commit(0, 7, null, 0);
        commit(1, 8, null, 5_000);

        machine.onTick(RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
        assertThat(machine.offsets().get("g", "t", 1).offset()).isEqualTo(8);
        assertThat(machine.list()).hasSize(1);

        machine.onTick(RETENTION_MS + 5_000);
        assertThat(machine.list()).isEmpty();
    }

    @Test
    void shouldKeepAnOffsetForItsRetentionWhenItsGroupHasBeenEmptyForLonger() {
        // given a group without members, in which a tool sets an offset later
        machine.replay(new CoordinatorRecord(
                new GroupMetadataKey().setGroup("g"),
                new GroupMetadataValue()
                        .setProtocolType("consumer")
                        .setGeneration(3)
                        .setCurrentStateTimestamp(0)
                        .setMembers(List.of())));
        machine.onLoaded(0);
        commit(0, 7, null, RETENTION_MS - 1);

        // when the group has been empty for the retention time
        machine.onTick(RETENTION_MS);

        // then the offset stays, and so does the group
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(7);
        assertThat(machine.list().get(0).protocolType()).isEqualTo("consumer");

        // until the offset is as old
        machine.onTick(2 * RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
        assertThat(machine.list()).isEmpty();
    }

    @Test
    void shouldKnowAnOffsetThatIsCommittedAfterAllOthersOfItsGroupWereDeleted() {
        commit(0, 7, null, 0);
        assertThat(machine.offsets().delete("g", "t", 0)).isEqualTo(ErrorCode.NONE);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();

        commit(0, 9, null, 1);

        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(9);
        assertThat(machine.list()).hasSize(1);
    }

    @Test
    void shouldForgetNothingByAClockThatIsNotTrusted() {
        machine.onLoaded(0);
        commit(0, 7, null, 0);
        trustedMs = 1_000;

        machine.onTick(100 * RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(7);

        trustedMs = Long.MAX_VALUE;
        machine.onTick(101 * RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
    }

    @Test
    void shouldRefuseTextsThatAreTooLong() {
        assertThat(commit(0, 7, "123456", 0)).containsExactly(ErrorCode.OFFSET_METADATA_TOO_LARGE);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
    }

    @Test
    void shouldDeleteTheOffsetsOfADeletedTopicWhenOneOfItsNameHasOffsetsAlready() {
        Uuid before = new Uuid(1, 1);
        Uuid after = new Uuid(1, 2);
        commit(0, 7, "", 0);
        commit(1, 7, "", 0);
        commit(1_000_000, 7, "", 0);

        // when a member of the new topic commits before the coordinator handles the deletion
        machine.offsets().commit("g", List.of(new CommittedOffsets.Commit("t", after, 1, 3, 3, 4, "")), 0);
        machine.offsets().onTopicsGone((topic, id) -> id.equals(before));

        // then only its offset is left
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
        assertThat(machine.offsets().get("g", "t", 1)).isEqualTo(new GroupOffset(3, 3, 4, "", 0, after));
        assertThat(machine.offsets().get("g", "t", 1_000_000)).isNull();
    }

    @Test
    void shouldKeepOffsetsWhenAHeartbeatIsRefused() {
        // given a classic group with an old offset, whose member has just left
        machine.onLoaded(0);
        commit(0, 7, null, 0);
        machine.replay(new CoordinatorRecord(
                new GroupMetadataKey().setGroup("g"),
                new GroupMetadataValue()
                        .setProtocolType("consumer")
                        .setGeneration(3)
                        .setCurrentStateTimestamp(RETENTION_MS - 1)
                        .setMembers(List.of())));

        // when a client of the consumer protocol is refused, because it asks for an unknown assignor
        List<ConsumerGroupHeartbeatResponse> responses = new ArrayList<>();
        machine.onConsumerHeartbeat(
                new Origin("client", "/127.0.0.1"),
                (short) 1,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId("g")
                        .setMemberId("member")
                        .setMemberEpoch(0)
                        .setRebalanceTimeoutMs(1_000)
                        .setSubscribedTopicNames(List.of("t"))
                        .setServerAssignor("unknown")
                        .setTopicPartitions(List.of()),
                RETENTION_MS - 1,
                new Reply<>() {
                    @Override
                    public void send(ConsumerGroupHeartbeatResponse response) {
                        responses.add(response);
                    }

                    @Override
                    public void fail(ErrorCode error) {
                        throw new AssertionError(error);
                    }
                });
        assertThat(responses.get(0).errorCode()).isEqualTo(ErrorCode.UNSUPPORTED_ASSIGNOR.code());

        // then the group keeps its offset for as long as without that client
        machine.onTick(RETENTION_MS + 1);
        assertThat(machine.offsets().get("g", "t", 0)).isNotNull();
        machine.onTick(3 * RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
    }

    @Test
    void shouldKeepOffsetsWhenAClientOfTheClassicProtocolGivesUp() {
        // given a group of the consumer protocol with an old offset, whose member has just left
        machine.onLoaded(0);
        commit(0, 7, null, 0);
        consumerHeartbeat(0, RETENTION_MS - 2);
        consumerHeartbeat(-1, RETENTION_MS - 1);

        // when clients of the classic protocol give up before they have joined
        List<ErrorCode> errors = new ArrayList<>();
        for (String memberId : List.of("", "unknown")) {
            machine.onJoinGroup(
                    new Origin("client", "/127.0.0.1"),
                    (short) 5,
                    new JoinGroupRequest()
                            .setGroupId("g")
                            .setMemberId(memberId)
                            .setSessionTimeoutMs(1_000)
                            .setRebalanceTimeoutMs(1_000)
                            .setProtocolType("consumer")
                            .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                    .setName("range")
                                    .setMetadata(Unpooled.EMPTY_BUFFER))),
                    RETENTION_MS - 1,
                    reply(response -> errors.add(ErrorCode.of(response.errorCode()))));
        }
        assertThat(errors).containsExactly(ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.UNKNOWN_MEMBER_ID);

        // then the group keeps its offset for as long as without them
        machine.onTick(RETENTION_MS + 1);
        assertThat(machine.offsets().get("g", "t", 0)).isNotNull();
        machine.onTick(3 * RETENTION_MS);
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
    }

    private void consumerHeartbeat(int epoch, long nowMs) {
        machine.onConsumerHeartbeat(
                new Origin("client", "/127.0.0.1"),
                (short) 1,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId("g")
                        .setMemberId("member")
                        .setMemberEpoch(epoch)
                        .setRebalanceTimeoutMs(1_000)
                        .setSubscribedTopicNames(List.of("t"))
                        .setTopicPartitions(List.of()),
                nowMs,
                reply(response -> assertThat(response.errorCode()).isZero()));
    }

    private static <T> Reply<T> reply(Consumer<T> send) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                send.accept(response);
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError(error);
            }
        };
    }

    @Test
    void shouldKeepOffsetsOfPartitionsFarApart() {
        commit(3, 1, "", 0);
        commit(1_000_000, 2, "far", 0);
        commit(3, 5, "", 0);

        assertThat(machine.offsets().get("g", "t", 3).offset()).isEqualTo(5);
        assertThat(machine.offsets().get("g", "t", 1_000_000).metadata()).isEqualTo("far");
        assertThat(machine.offsets().get("g", "t", 4)).isNull();
    }
}
