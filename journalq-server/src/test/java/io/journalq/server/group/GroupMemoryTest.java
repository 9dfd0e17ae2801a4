package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The memory charged for groups and offsets: nothing stays charged when they are gone, and requests beyond the limit
 * are rejected.
 */
class GroupMemoryTest {
    private static final GroupLimits LIMITS =
            new GroupLimits(100, 1, 100_000, 0, 20_000, Long.MAX_VALUE, Long.MAX_VALUE / 4);
    private static final int SESSION_MS = 30_000;
    private static final int GROUPS = 6;
    private static final CommittedOffsets.Committer ANYBODY = new CommittedOffsets.Committer("", null, -1);

    private final ChargedBytes groups = new ChargedBytes();
    private final ChargedBytes offsets = new ChargedBytes();
    private final ArrayList<CoordinatorRecord> journal = new ArrayList<>();
    private final ArrayList<String[]> members = new ArrayList<>();
    private GroupMachine machine = newMachine();
    private long nowMs = 1_000_000;
    private int nextId;

    private GroupMachine newMachine() {
        groups.bytes = 0;
        offsets.bytes = 0;
        return new GroupMachine(
                LIMITS,
                ConsumerGroupLimits.DEFAULT,
                GroupCount.UNLIMITED,
                new GroupMemory(groups, offsets),
                this::append,
                RetentionTime.CLOCK,
                () -> "id" + nextId++);
    }

    private void append(List<CoordinatorRecord> records) {
        journal.addAll(records);
        records.forEach(machine::replay);
    }

    private void restart() {
        machine = newMachine();
        List.copyOf(journal).forEach(record -> machine.replay(asStored(record)));
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
    }

    private static CoordinatorRecord asStored(CoordinatorRecord record) {
        ByteBuf key = GroupRecords.TYPES.encodeKey(record, HEAP);
        ByteBuf value = GroupRecords.TYPES.encodeValue(record, HEAP);
        return GroupRecords.TYPES.decode(key, value);
    }

    /** The decoded records keep these buffers. */
    private static final ByteBufAllocator HEAP = new UnpooledByteBufAllocator(false, true);

    /** Ten topics with three partitions each. */
    private static final Topics TOPICS = new Topics() {
        @Override
        public Topic byName(String name) {
            return all().stream()
                    .filter(topic -> topic.name().equals(name))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public Topic byId(Uuid id) {
            return all().stream()
                    .filter(topic -> topic.id().equals(id))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public Collection<Topic> all() {
            List<Topic> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                all.add(new Topic(new Uuid(1, i + 1), "topic-" + i, 3));
            }
            return all;
        }
    };

    private ErrorCode join(String group, String memberId, String instanceId, int size) {
        ErrorCode[] error = {null};
        machine.onJoinGroup(
                new Origin(received("client"), received("host")),
                (short) 5,
                new JoinGroupRequest()
                        .setGroupId(group)
                        .setMemberId(memberId)
                        .setGroupInstanceId(instanceId)
                        .setSessionTimeoutMs(SESSION_MS)
                        .setRebalanceTimeoutMs(SESSION_MS)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.wrappedBuffer(new byte[size])))),
                nowMs,
                reply(response -> {
                    error[0] = ErrorCode.of(response.errorCode());
                    if (error[0] == ErrorCode.MEMBER_ID_REQUIRED || error[0] == ErrorCode.NONE) {
                        members.add(new String[] {group, response.memberId(), "" + response.generationId()});
                    }
                }));
        machine.onTick(nowMs);
        return error[0];
    }

    private static <T> Reply<T> reply(Consumer<T> done) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                done.accept(response);
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError(error);
            }
        };
    }

    private ErrorCode heartbeat(String group, String memberId, int epoch, List<String> names, String regex) {
        ErrorCode[] error = {null};
        machine.onConsumerHeartbeat(
                new Origin(received("client"), received("host")),
                (short) 1,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId(group)
                        .setMemberId(memberId)
                        .setMemberEpoch(epoch)
                        .setRebalanceTimeoutMs(SESSION_MS)
                        .setSubscribedTopicNames(names)
                        .setSubscribedTopicRegex(regex)
                        .setTopicPartitions(epoch == 0 ? List.of() : null),
                nowMs,
                reply(response -> error[0] = ErrorCode.of(response.errorCode())));
        machine.onTick(nowMs);
        return error[0];
    }

    private ErrorCode commit(String group, String topic, int partition, String metadata) {
        ErrorCode[] error = {null};
        machine.onOffsetCommit(
                group,
                ANYBODY,
                List.of(new CommittedOffsets.Commit(topic, Uuid.ZERO, partition, 5, -1, -1, metadata)),
                nowMs,
                reply(responses -> error[0] = responses.get(0)));
        return error[0];
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldChargeNothingWhenAllIsGone(long seed) {
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
        Random random = new Random(seed);
        for (int step = 0; step < 1_500; step++) {
            nowMs += random.nextInt(4_000);
            machine.onTick(nowMs);
            String group = "group-" + random.nextInt(GROUPS);
            String consumer = "member-" + random.nextInt(4);
            String topic = "topic-" + random.nextInt(10);
            String text = random.nextBoolean() ? "" : "x".repeat(random.nextInt(50));
            String[] member = members.isEmpty() ? null : members.get(random.nextInt(members.size()));
            switch (random.nextInt(10)) {
                case 0 -> join(group, "", random.nextBoolean() ? null : "i" + random.nextInt(3), random.nextInt(500));
                case 1 -> {
                    if (member != null) {
                        join(member[0], member[1], null, random.nextInt(500));
                    }
                }
                case 2 -> {
                    if (member != null) {
                        sync(member, random.nextInt(300));
                    }
                }
                case 3 -> {
                    if (member != null) {
                        machine.onLeaveGroup(
                                member[0],
                                List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(member[1])),
                                nowMs,
                                reply(responses -> {}));
                    }
                }
                case 4 -> heartbeat("consumer-" + group, consumer, 0, List.of(topic), null);
                case 5 -> heartbeat("consumer-" + group, consumer, 0, null, "topic-[0-" + random.nextInt(9) + "]");
                case 6 -> heartbeat("consumer-" + group, consumer, random.nextBoolean() ? -1 : 1, null, null);
                case 7 -> commit("offsets-" + group, topic, random.nextInt(4) * random.nextInt(100), text);
                case 8 ->
                    machine.onTransactionalOffsetCommit(
                            "offsets-" + group,
                            ANYBODY,
                            new CommittedOffsets.InTransaction(
                                    random.nextInt(3),
                                    (short) 0,
                                    0,
                                    List.of(new CommittedOffsets.Commit(
                                            topic, Uuid.ZERO, random.nextInt(4), 5, -1, -1, text))),
                            nowMs,
                            reply(responses -> {}));
                default ->
                    machine.onTransactionEnd(
                            new TransactionMarker(random.nextInt(3), (short) 0, random.nextBoolean(), 0),
                            1,
                            0,
                            reply(response -> {}));
            }
            if (step % 500 == 250) {
                restart();
            }
        }
        assertThat(groups.bytes).isPositive();
        assertThat(offsets.bytes).isPositive();

        // no member sends anything, and the remaining state is deleted
        for (int i = 0; i < 100; i++) {
            nowMs += 100_000;
            machine.onTick(nowMs);
        }
        machine.list().forEach(listed -> machine.onDeleteGroup(listed.groupId(), reply(response -> {})));

        assertThat(machine.list()).isEmpty();
        assertThat(groups.bytes).isZero();
        assertThat(offsets.bytes).isZero();
    }

    private ErrorCode sync(String[] member, int size) {
        ErrorCode[] error = {null};
        machine.onSyncGroup(
                new SyncGroupRequest()
                        .setGroupId(member[0])
                        .setMemberId(member[1])
                        .setGenerationId(Integer.parseInt(member[2]))
                        .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                                .setMemberId(member[1])
                                .setAssignment(Unpooled.wrappedBuffer(new byte[size])))),
                nowMs,
                reply(response -> error[0] = ErrorCode.of(response.errorCode())));
        return error[0];
    }

    @Test
    void shouldRefuseWhatMakesGroupsLargerAndLetMembersGoOnWhenThereIsNoRoom() {
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
        join("old", "", "static", 100);
        heartbeat("new", "m", 0, List.of("topic-1"), null);
        commit("g", "topic-1", 0, "");
        groups.maxBytes = groups.bytes;
        offsets.maxBytes = offsets.bytes;

        assertThat(join("other", "", "static", 100)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(join("old", "", "static", 100_000)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(heartbeat("new", "n", 0, List.of("topic-1"), null)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(heartbeat("new", "m", 0, null, "topic-.*")).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(commit("g", "topic-2", 0, "")).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(commit("h", "topic-1", 0, "")).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(machine.list()).extracting("groupId").containsExactlyInAnyOrder("g", "new", "old");

        assertThat(join("old", "", "static", 100)).isNotEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(heartbeat("new", "m", 0, List.of("topic-1"), null)).isEqualTo(ErrorCode.NONE);
        assertThat(commit("g", "topic-1", 0, "")).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseClassicMembersOfAConsumerGroupWhenThereIsNoRoom() {
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
        heartbeat("new", "m", 0, List.of("topic-1"), null);
        assertThat(join("new", "", "static", 100)).isEqualTo(ErrorCode.NONE);
        groups.maxBytes = groups.bytes;

        assertThat(join("new", "", "another", 100)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(join("new", "", "static", 100_000)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(groups.bytes).isEqualTo(groups.maxBytes);

        assertThat(join("new", "", "static", 100)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseTextsOfOffsetsThatNoRecordCanHave() {
        assertThat(commit("g", "topic-1", 0, "\u20ac".repeat(4_000))).isEqualTo(ErrorCode.NONE);
        assertThat(commit("g", "topic-1", 0, "\u20ac".repeat(11_000))).isEqualTo(ErrorCode.OFFSET_METADATA_TOO_LARGE);
    }

    @Test
    void shouldForgetAGroupWhenTheClientLeavesThatItExpects() {
        machine.onLoaded(nowMs);
        assertThat(join("group", "", null, 10)).isEqualTo(ErrorCode.MEMBER_ID_REQUIRED);

        machine.onLeaveGroup(
                "group",
                List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(members.get(0)[1])),
                nowMs,
                reply(responses -> assertThat(responses.get(0).errorCode()).isZero()));

        assertThat(machine.list()).isEmpty();
        assertThat(groups.bytes).isZero();
    }

    /** A batch of the topic can have 64 MiB. The coordinator drops all of its groups if a larger one is refused. */
    private static final int RECORD_BYTES_MAX = 64 << 20;

    private void assertRecordsFit() {
        for (CoordinatorRecord record : journal) {
            if (record.value() != null) {
                ByteBuf value = GroupRecords.TYPES.encodeValue(record, HEAP);
                assertThat(value.readableBytes()).isLessThan(RECORD_BYTES_MAX);
                value.release();
            }
        }
    }

    @Test
    void shouldRefuseAssignmentsWhenTheRecordOfTheGroupWouldBeTooLarge() {
        machine.onLoaded(nowMs);
        join("group", "", "static", 40 << 20);

        assertThat(sync(members.get(0), 30 << 20)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(sync(members.get(0), 100)).isEqualTo(ErrorCode.NONE);
        assertRecordsFit();
    }

    @Test
    void shouldNotConvertAGroupWhenItsRecordsWouldBeTooLarge() {
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
        // given members that are too large together
        join("classic", "", "one", 35 << 20);
        join("classic", "", "two", 35 << 20);
        heartbeat("consumer", "m", 0, List.of("topic-1"), null);
        assertThat(join("consumer", "", "one", 35 << 20)).isEqualTo(ErrorCode.NONE);
        assertThat(join("consumer", "", "two", 35 << 20)).isEqualTo(ErrorCode.NONE);

        // when the first consumer joins one group, and the last one leaves the other
        assertThat(heartbeat("classic", "m", 0, List.of("topic-1"), null)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(heartbeat("consumer", "m", -1, null, null)).isEqualTo(ErrorCode.NONE);

        // then both keep their type
        assertThat(machine.list()).extracting("groupType").containsExactly("classic", "consumer");
        assertRecordsFit();
    }

    private static final int COUNT = 300;

    private interface Growth {
        void grow(int number);
    }

    /** Compares the charged size with the heap size of the machine, for one type of state at a time. */
    private void assertEstimate(String state, ChargedBytes charged, int count, Growth growth) {
        machine.onLoaded(nowMs);
        machine.onTopics(TOPICS);
        growth.grow(-1);
        forgetWhatTheTestKeeps();
        long chargedBefore = charged.bytes;
        long retainedBefore = RetainedBytes.of(machine);
        for (int i = 0; i < count; i++) {
            growth.grow(i);
        }
        forgetWhatTheTestKeeps();
        RetainedBytes.assertEstimate(state, charged.bytes - chargedBefore, RetainedBytes.of(machine) - retainedBefore);
    }

    /** A text as decoded from a request, which is not shared. */
    private static String received(String text) {
        return new String(text.toCharArray());
    }

    private static List<String> subscriptions() {
        return List.of(received("topic-1"), received("topic-2"));
    }

    /** Drops the data that only the test keeps, because it is the machine's outbox. */
    private void forgetWhatTheTestKeeps() {
        journal.clear();
        journal.trimToSize();
        members.clear();
        members.trimToSize();
    }

    @Test
    void shouldEstimateGroupsWhenTheyHaveOneClassicMember() {
        assertEstimate("groups of one member", groups, COUNT, i -> join("group-" + i, "", null, 100));
    }

    @Test
    void shouldEstimateGroupsWhenTheyHaveOneStaticMember() {
        assertEstimate("groups of one static member", groups, COUNT, i -> join("group-" + i, "", "i" + i, 100));
    }

    @Test
    void shouldEstimateMembersWhenTheirClassicGroupIsLarge() {
        assertEstimate("members of a group", groups, COUNT, i -> join("group", "", "i" + i, 100));
    }

    @Test
    void shouldEstimateMembersWhenTheySayMuch() {
        assertEstimate("large members", groups, 20, i -> join("group-" + i, "", "i", 500_000));
    }

    @Test
    void shouldEstimateMembersWhenTheyAreExpected() {
        assertEstimate("expected members", groups, COUNT, i -> join("group", "", null, 10));
    }

    @Test
    void shouldEstimateMembersWhenTheyAreAssignedMuch() {
        assertEstimate("assignments", groups, 20, i -> {
            join("group-" + i, "", "i", 10);
            sync(members.get(members.size() - 1), 100_000);
        });
    }

    @Test
    void shouldEstimateGroupsWhenTheyHaveOneConsumer() {
        assertEstimate(
                "groups of one consumer", groups, COUNT, i -> heartbeat("group-" + i, "m", 0, subscriptions(), null));
    }

    @Test
    void shouldEstimateConsumersWhenTheirGroupIsLarge() {
        assertEstimate(
                "consumers of a group", groups, COUNT, i -> heartbeat("group", "m" + i, 0, subscriptions(), null));
    }

    @Test
    void shouldEstimateConsumersWhenTheySubscribeToMuch() {
        List<String> names =
                IntStream.range(0, 1_000).mapToObj(i -> "name-" + i).toList();
        assertEstimate(
                "subscriptions",
                groups,
                50,
                i -> heartbeat(
                        "group-" + i,
                        "m",
                        0,
                        new ArrayList<>(names.stream().map(name -> name + i).toList()),
                        null));
    }

    @Test
    void shouldEstimateConsumersWhenTheySubscribeByPattern() {
        assertEstimate("patterns", groups, 200, i -> heartbeat("group-" + i, "m", 0, null, "topic-.*|other" + i));
    }

    @Test
    void shouldEstimateOffsetsWhenGroupsHaveOne() {
        assertEstimate("groups of one offset", offsets, COUNT, i -> commit("group-" + i, received("topic"), 0, ""));
    }

    @Test
    void shouldEstimateOffsetsWhenTopicsHaveOne() {
        assertEstimate("topics of one offset", offsets, COUNT, i -> commit("group", "topic-" + i, 0, ""));
    }

    @Test
    void shouldEstimateOffsetsWhenTopicsHaveMany() {
        assertEstimate("offsets of a topic", offsets, COUNT, i -> commit("group", "topic", i + 1, ""));
    }

    @Test
    void shouldEstimateOffsetsWhenTheyLieApart() {
        assertEstimate("scattered offsets", offsets, COUNT, i -> commit("group", "topic", 1_000 * (i + 2), ""));
    }

    @Test
    void shouldEstimateOffsetsWhenTheyHaveTexts() {
        assertEstimate("texts", offsets, COUNT, i -> commit("group", "topic", i + 1, "text of the offset " + i));
    }

    @Test
    void shouldEstimateOffsetsWhenTheirTextsAreNotLatin() {
        assertEstimate("wide texts", offsets, 200, i -> commit("group", "topic", i + 1, "\u0416".repeat(1_000) + i));
    }

    @Test
    void shouldEstimateOffsetsWhenTheyAreOfATransaction() {
        assertEstimate("pending offsets", offsets, COUNT, i -> commitInTransaction("group", i + 1, i + 1));
    }

    @Test
    void shouldEstimateOffsetsWhenEachIsOfAnotherGroupAndTransaction() {
        assertEstimate("pending offsets of groups", offsets, COUNT, i -> commitInTransaction("group-" + i, 0, i + 1));
    }

    @Test
    void shouldEstimateOffsetsOfTransactionsWhenTheNamesOfGroupsAreLong() {
        assertEstimate(
                "pending offsets of long names",
                offsets,
                200,
                i -> commitInTransaction("\u0416".repeat(1_000) + i, 0, i + 1));
    }

    private void commitInTransaction(String group, int partition, long producerId) {
        machine.onTransactionalOffsetCommit(
                group,
                ANYBODY,
                new CommittedOffsets.InTransaction(
                        producerId,
                        (short) 0,
                        0,
                        List.of(new CommittedOffsets.Commit(received("topic"), Uuid.ZERO, partition, 5, -1, -1, ""))),
                nowMs,
                reply(responses -> {}));
    }
}
