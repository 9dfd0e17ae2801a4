package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Offsets that are committed with a transaction take effect when it commits, and never before. */
class TransactionalOffsetsTest {
    private static final GroupLimits LIMITS = new GroupLimits(100, 1, 100_000, 0, 5, 10_000, 1_000);
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final int COORDINATOR_EPOCH = 4;
    private static final CommittedOffsets.Committer ANYBODY = new CommittedOffsets.Committer("", null, -1);

    private final List<List<CoordinatorRecord>> journal = new ArrayList<>();
    private GroupMachine machine = newMachine();

    private GroupMachine newMachine() {
        return new GroupMachine(
                LIMITS,
                ConsumerGroupLimits.DEFAULT,
                GroupCount.UNLIMITED,
                GroupMemory.UNBOUNDED,
                this::append,
                RetentionTime.CLOCK,
                () -> "id");
    }

    private void append(List<CoordinatorRecord> records) {
        if (!records.isEmpty()) {
            journal.add(records);
            records.forEach(machine::replay);
        }
    }

    private void restart() {
        machine = newMachine();
        journal.forEach(records -> records.forEach(record -> machine.replay(asStored(record))));
    }

    private static CoordinatorRecord asStored(CoordinatorRecord record) {
        ByteBuf key = GroupRecords.TYPES.encodeKey(record, UnpooledByteBufAllocator.DEFAULT);
        ByteBuf value = GroupRecords.TYPES.encodeValue(record, UnpooledByteBufAllocator.DEFAULT);
        try {
            return GroupRecords.TYPES.decode(key, value);
        } finally {
            key.release();
            if (value != null) {
                value.release();
            }
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

    /** Of the next commit, and of the next end. */
    private long guard;

    private long number;

    private List<ErrorCode> commit(
            String group,
            CommittedOffsets.Committer committer,
            long producerId,
            int epoch,
            int partition,
            long offset) {
        Response<List<ErrorCode>> response = new Response<>();
        machine.onTransactionalOffsetCommit(
                group,
                committer,
                new CommittedOffsets.InTransaction(
                        producerId,
                        (short) epoch,
                        guard,
                        List.of(new CommittedOffsets.Commit("t", TOPIC, partition, offset, 2, 3, "note"))),
                nowMs,
                response);
        return response.value;
    }

    private long nowMs = 7;

    private void end(long producerId, int epoch, boolean commit) {
        end(producerId, epoch, 2, commit);
    }

    private void end(long producerId, int epoch, int transactionVersion, boolean commit) {
        assertThat(end(new TransactionMarker(producerId, (short) epoch, commit, COORDINATOR_EPOCH), transactionVersion))
                .isEqualTo(ErrorCode.NONE);
    }

    private ErrorCode end(TransactionMarker marker, int transactionVersion) {
        Response<ErrorCode> response = new Response<>();
        machine.onTransactionEnd(marker, transactionVersion, number, response);
        return response.value;
    }

    @Test
    void shouldPutOffsetsInForceOnlyWhenTheTransactionCommits() {
        // given
        commit("g", ANYBODY, 11, 0, 4, 9);
        nowMs++;
        commit("g", ANYBODY, 12, 0, 4, 8);
        assertThat(machine.offsets().get("g", "t", 4)).isNull();

        // when
        end(11, 1, false);

        // then
        assertThat(machine.offsets().get("g", "t", 4)).isNull();
        assertThat(machine.offsets().isPending("g", "t", 4)).isTrue();

        // when
        end(12, 1, true);

        // then
        assertThat(machine.offsets().get("g", "t", 4)).isEqualTo(new GroupOffset(8, 2, 3, "note", 8, TOPIC));
        assertThat(machine.offsets().isPending("g", "t", 4)).isFalse();
    }

    @Test
    void shouldTakeOffsetsFromAMemberThatWaitsForItsAssignment() {
        // given a member of a classic group that has joined a generation
        Response<JoinGroupResponse> joined = new Response<>();
        machine.onJoinGroup(
                new Origin("client", "/127.0.0.1"),
                (short) 3,
                new JoinGroupRequest()
                        .setGroupId("g")
                        .setSessionTimeoutMs(1_000)
                        .setRebalanceTimeoutMs(1_000)
                        .setMemberId("")
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.EMPTY_BUFFER))),
                0,
                joined);
        machine.onTick(1);
        assertThat(joined.value.errorCode()).isZero();

        // when it commits offsets with a transaction before it knows its assignment
        List<ErrorCode> outcomes = commit(
                "g",
                new CommittedOffsets.Committer(joined.value.memberId(), null, joined.value.generationId()),
                11,
                0,
                4,
                9);

        // then they are accepted, as in Kafka: its clients take REBALANCE_IN_PROGRESS for fatal
        assertThat(outcomes).containsExactly(ErrorCode.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeOffsetsFromAConsumerWithAnInstanceIdThatIsNoMember(boolean isClassic) {
        // given a group without members
        Origin origin = new Origin("client", "/127.0.0.1");
        if (isClassic) {
            machine.onJoinGroup(
                    origin,
                    (short) 3,
                    new JoinGroupRequest()
                            .setGroupId("g")
                            .setSessionTimeoutMs(1_000)
                            .setRebalanceTimeoutMs(1_000)
                            .setMemberId("")
                            .setProtocolType("consumer")
                            .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                    .setName("range")
                                    .setMetadata(Unpooled.EMPTY_BUFFER))),
                    0,
                    new Response<>());
            machine.onTick(1);
            machine.onTick(5_000);
        } else {
            for (int epoch : new int[] {0, -1}) {
                machine.onConsumerHeartbeat(
                        origin,
                        (short) 1,
                        new ConsumerGroupHeartbeatRequest()
                                .setGroupId("g")
                                .setMemberId("m")
                                .setMemberEpoch(epoch)
                                .setRebalanceTimeoutMs(1_000)
                                .setSubscribedTopicNames(List.of("t"))
                                .setTopicPartitions(List.of()),
                        0,
                        new Response<>());
            }
        }
        assertThat(machine.list()).extracting("groupState").containsExactly("Empty");

        // when a consumer with assigned partitions and a group instance id commits
        CommittedOffsets.Committer committer = new CommittedOffsets.Committer("static-1", "static", -1);
        Response<List<ErrorCode>> response = new Response<>();
        machine.onOffsetCommit(
                "g", committer, List.of(new CommittedOffsets.Commit("t", TOPIC, 4, 12, 2, 3, "")), nowMs, response);

        // then its offsets are accepted, as in Kafka
        assertThat(response.value).containsExactly(ErrorCode.NONE);
        assertThat(commit("g", committer, 11, 0, 5, 9)).containsExactly(ErrorCode.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepWhatWasCommittedLastWhenItWasOutsideOfTheTransaction(boolean committed) {
        // given an offset of an open transaction, and a later commit without one
        commit("g", ANYBODY, 11, 0, 4, 9);
        commit("g", ANYBODY, 11, 0, 5, 9);
        Response<List<ErrorCode>> response = new Response<>();
        machine.onOffsetCommit(
                "g", ANYBODY, List.of(new CommittedOffsets.Commit("t", TOPIC, 4, 12, 2, 3, "later")), 8, response);
        assertThat(response.value).containsExactly(ErrorCode.NONE);

        // when
        end(11, 1, committed);
        restart();

        // then
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(12);
        assertThat(machine.offsets().isPending("g", "t", 4)).isFalse();
        assertThat(machine.offsets().get("g", "t", 5) != null).isEqualTo(committed);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepWhatWasCommittedLastWhenAnEarlierTransactionEndsLater(boolean laterOneCommits) {
        // given offsets of the same partition in two open transactions
        commit("g", ANYBODY, 11, 0, 4, 9);
        nowMs++;
        commit("g", ANYBODY, 12, 0, 4, 20);

        // when the later one ends first
        end(12, 1, laterOneCommits);
        restart();
        end(11, 1, true);

        // then its offset counts, if it commits
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(laterOneCommits ? 20 : 9);
        assertThat(machine.offsets().isPending("g", "t", 4)).isFalse();
    }

    @Test
    void shouldKeepWhatIsPendingWhenAnEarlierTransactionEndsFirst() {
        commit("g", ANYBODY, 11, 0, 4, 9);
        nowMs++;
        commit("g", ANYBODY, 12, 0, 4, 20);
        end(11, 1, true);
        assertThat(machine.offsets().isPending("g", "t", 4)).isTrue();
        end(12, 1, true);
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 0})
    void shouldKeepWhatWasCommittedLastWhenTheClockDoesNotAdvance(long backMs) {
        // given a later commit with no later time, such as by a coordinator on another broker
        nowMs = 2_000;
        commit("g", ANYBODY, 11, 0, 4, 9);
        nowMs -= backMs;
        commit("g", ANYBODY, 12, 0, 4, 20);

        // when the earlier one ends first
        restart();
        end(11, 1, true);
        end(12, 1, true);

        // then
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 0})
    void shouldForgetAnEarlierTransactionWhenTheClockDoesNotAdvance(long backMs) {
        nowMs = 2_000;
        commit("g", ANYBODY, 11, 0, 4, 9);
        nowMs -= backMs;
        commit("g", ANYBODY, 12, 0, 4, 20);
        end(12, 1, true);
        end(11, 1, true);
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(20);
    }

    @Test
    void shouldEndEveryGroupOfAProducerInOneAppend() {
        // given
        for (String group : List.of("a", "b", "c")) {
            commit(group, ANYBODY, 11, 0, 0, 5);
            commit(group, ANYBODY, 11, 0, 1, 6);
        }
        int before = journal.size();

        // when
        end(11, 1, true);

        // then
        assertThat(journal).hasSize(before + 1);
        assertThat(journal.get(before)).hasSize(12);
        assertThat(machine.offsets().get("c", "t", 1).offset()).isEqualTo(6);
    }

    @Test
    void shouldDoNothingWhenTheEndIsToldAgain() {
        // given
        commit("g", ANYBODY, 11, 0, 0, 5);
        end(11, 1, true);
        int before = journal.size();

        // when
        end(11, 1, true);
        end(11, 1, false);

        // then
        assertThat(journal).hasSize(before);
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(5);
    }

    @Test
    void shouldKeepWhatALaterTransactionCommittedWhenAnEarlierEndIsToldAgain() {
        // given
        commit("g", ANYBODY, 11, 3, 0, 5);

        // when
        end(11, 2, true);

        // then
        assertThat(machine.offsets().isPending("g", "t", 0)).isTrue();
        assertThat(machine.offsets().get("g", "t", 0)).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepWhatTheNextTransactionCommittedWhenTheEndOfTheFirstOneArrivesLate(boolean committed) {
        // given an end that increments the epoch, and the next transaction of the producer
        commit("g", ANYBODY, 11, 0, 0, 5);
        end(11, 1, true);
        commit("g", ANYBODY, 11, 1, 0, 9);

        // when an earlier coordinator of the transaction tells the same end
        end(11, 1, committed);

        // then
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(5);
        assertThat(machine.offsets().isPending("g", "t", 0)).isTrue();

        // when
        end(11, 2, false);

        // then
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(5);
        assertThat(machine.offsets().isPending("g", "t", 0)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "2, 2"})
    void shouldForgetWhatATransactionWithoutAnEndLeftWhenALaterOneCommits(int transactionVersion, int markerEpoch) {
        // given
        commit("g", ANYBODY, 11, 0, 4, 51);
        commit("g", ANYBODY, 11, 1, 5, 100);

        // when
        end(11, markerEpoch, transactionVersion, true);

        // then
        assertThat(machine.offsets().get("g", "t", 4)).isNull();
        assertThat(machine.offsets().isPending("g", "t", 4)).isFalse();
        assertThat(machine.offsets().get("g", "t", 5).offset()).isEqualTo(100);
    }

    @Test
    void shouldKnowWhatIsPendingAfterARestart() {
        // given
        commit("g", ANYBODY, 11, 0, 0, 5);
        commit("g", ANYBODY, 12, 0, 1, 6);
        end(12, 1, false);

        // when
        restart();

        // then
        assertThat(machine.offsets().isPending("g", "t", 0)).isTrue();
        assertThat(machine.offsets().isPending("g", "t", 1)).isFalse();
        assertThat(machine.list()).hasSize(1);
        end(11, 1, true);
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(5);
    }

    @Test
    void shouldRefuseAMemberThatTheGroupDoesNotHave() {
        assertThat(commit("g", new CommittedOffsets.Committer("m", null, 4), 11, 0, 0, 5))
                .containsExactly(ErrorCode.ILLEGAL_GENERATION);
        assertThat(machine.offsets().isPending("g", "t", 0)).isFalse();
        assertThat(commit("", ANYBODY, 11, 0, 0, 5)).containsExactly(ErrorCode.INVALID_GROUP_ID);
    }

    @Test
    void shouldForgetWhatIsPendingWhenItsGroupOrTopicGoes() {
        // given
        commit("g", ANYBODY, 11, 0, 0, 5);
        commit("h", ANYBODY, 11, 0, 0, 5);

        // when
        machine.onDeleteGroup("g", new Response<>());

        // then
        assertThat(machine.offsets().isPending("g", "t", 0)).isFalse();
        assertThat(machine.offsets().isPending("h", "t", 0)).isTrue();

        // when
        machine.offsets().onTopicsGone((topic, id) -> topic.equals("t"));

        // then
        assertThat(machine.list()).isEmpty();
    }

    @Test
    void shouldMoveWhatIsPendingBackToTheEndOfAPartitionThatLostItsTail() {
        // given
        commit("g", ANYBODY, 11, 0, 0, 5);

        // when
        machine.offsetTruncation().moveBackInMemory((topic, partition, epoch) -> 3);
        end(11, 1, true);

        // then
        assertThat(machine.offsets().get("g", "t", 0)).isEqualTo(new GroupOffset(3, -1, 2, "note", 7, TOPIC));
    }

    @Test
    void shouldRefuseOffsetsWhenTheirTransactionHasEndedSinceItWasConfirmed() {
        // given a confirmation that began before the end of the transaction
        guard = 1;
        number = 2;
        end(7, 3, 1, false);

        // then the same epoch is refused, unless it was confirmed later
        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        guard = 2;
        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.NONE);

        // and if the end has incremented the epoch, the epoch tells
        number = 3;
        end(7, 4, 2, true);
        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        assertThat(commit("group", ANYBODY, 7, 4, 0, 10)).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseOffsetsOfAnEarlierConfirmationWhenTheEndOfTheirTransactionIsForgotten() {
        // given a confirmation, the end of its transaction, and 10,000 later ends: the first one is forgotten
        guard = 1;
        number = 2;
        end(7, 3, 1, false);
        for (long other = 0; other < 10_000; other++) {
            number++;
            end(1_000 + other, 3, 1, false);
        }

        // when, then
        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        guard = number;
        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldExpireNoOffsetThatAnOpenTransactionMayChange() {
        // given an old offset, and a transaction that has committed a newer one
        machine.onLoaded(0);
        machine.offsets().commit("g", List.of(new CommittedOffsets.Commit("t", TOPIC, 4, 5, 2, 3, "")), nowMs);
        commit("g", ANYBODY, 11, 0, 4, 9);

        // when its retention ends before the transaction
        nowMs += LIMITS.offsetRetentionMs() + LIMITS.offsetCheckIntervalMs();
        machine.onTick(nowMs);

        // then it is still there when the transaction is aborted
        end(11, 1, false);
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(5);

        // and expires after that
        nowMs += LIMITS.offsetRetentionMs();
        machine.onTick(nowMs);
        assertThat(machine.offsets().get("g", "t", 4)).isNull();
    }

    @Test
    void shouldMoveNothingBackThatIsPendingWhenTheEndOfThePartitionIsUnknown() {
        commit("g", ANYBODY, 11, 0, 4, 9);

        assertThat(machine.offsetTruncation().moveBack((topic, partition, epoch) -> -1, () -> {}))
                .isZero();

        end(11, 1, true);
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseTheEndOfAnEarlierTransactionWhenItsCoordinatorWasReplaced(boolean committed) {
        // given: in transaction version 1, all transactions of a producer have the same epoch
        commit("g", ANYBODY, 11, 0, 4, 9);
        end(11, 0, 1, true);
        commit("g", ANYBODY, 11, 0, 4, 12);

        // when: the coordinator that was replaced ends the first one again
        ErrorCode error = end(new TransactionMarker(11, (short) 0, committed, COORDINATOR_EPOCH - 1), 1);

        // then
        assertThat(error).isEqualTo(ErrorCode.TRANSACTION_COORDINATOR_FENCED);
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(9);
        assertThat(machine.offsets().isPending("g", "t", 4)).isTrue();

        // when
        end(11, 0, 1, true);

        // then
        assertThat(machine.offsets().get("g", "t", 4).offset()).isEqualTo(12);
    }

    @Test
    void shouldRefuseOffsetsWhenTheCoordinatorWasLoadedSinceTheyWereConfirmed() {
        guard = 1;
        machine.offsets().onGuard(2);

        assertThat(commit("group", ANYBODY, 7, 3, 0, 10)).containsExactly(ErrorCode.COORDINATOR_NOT_AVAILABLE);
    }

    @Test
    void shouldFindPositionsThatAreOlderThanALossOfRecords() {
        // given positions in leader epoch 2, in effect and pending
        commit("group", ANYBODY, 7, 3, 0, 10);
        end(7, 3, 1, true);
        commit("group", ANYBODY, 7, 3, 1, 20);

        // then both are found if records were lost later, each only in its partition
        assertThat(machine.offsetTruncation().olderThan(topic -> topic.equals("t") ? partition -> 3 : null))
                .containsExactly(
                        new OffsetTruncation.PartitionEpoch("t", 0, 2), new OffsetTruncation.PartitionEpoch("t", 1, 2));
        assertThat(machine.offsetTruncation().olderThan(topic -> partition -> partition == 1 ? 3 : 2))
                .containsExactly(new OffsetTruncation.PartitionEpoch("t", 1, 2));
        assertThat(machine.offsetTruncation().olderThan(topic -> null)).isEmpty();
    }
}
