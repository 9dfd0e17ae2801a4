package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.network.SharedMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class GroupSeatTest {
    private static final int NODE = 3;
    private static final Uuid TOPIC = new Uuid(1, 1);

    private final Coordinator coordinator = new Coordinator();
    private final List<String> assigned = new ArrayList<>();
    private MetadataImage image = MetadataImage.EMPTY;

    /** The coordinator is another broker, which has heard of the topic before. */
    @Test
    void shouldTakePartitionsOfATopicThatThisBrokerHearsOfLater() {
        GroupSeat seat = new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {
                assigned.add(topic + committed.keySet());
            }

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {}

            @Override
            public void onEnd(Problem problem) {}
        });
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(5);
        assertThat(assigned).isEmpty();
        // when
        image = imageWithTopic(TOPIC);
        coordinator.runTimers(20);
        // then
        assertThat(assigned).containsExactly("t[0]");
    }

    @Test
    void shouldBeginAgainWhenATopicIsDeletedAndCreatedAgain() {
        image = imageWithTopic(TOPIC);
        GroupSeat seat = new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {
                assigned.add(topic + committed.keySet());
            }

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {
                assigned.add("not " + topic + partitions);
            }

            @Override
            public void onEnd(Problem problem) {}
        });
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(20);
        // when
        Uuid again = new Uuid(1, 2);
        image = imageWithTopic(again);
        seat.offsets().commit("t", Map.of(0, 7L), problem -> {});
        coordinator.topicId = again;
        coordinator.runTimers(20);
        // then
        assertThat(assigned).containsExactly("t[0]", "not t[0]", "t[0]");
        assertThat(coordinator.committed).containsExactly(TOPIC);
    }

    @Test
    void shouldCommitNothingForANewTopicWhenADeletedOneOfItsNameIsTriedAgain() {
        // given a commit that the coordinator cannot store now
        image = imageWithTopic(TOPIC);
        GroupSeat seat = new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {
                assigned.add(topic + committed.keySet());
            }

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {}

            @Override
            public void onEnd(Problem problem) {}
        });
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(20);
        coordinator.loads = true;
        List<Problem> problems = new ArrayList<>();
        seat.offsets().commit("t", Map.of(0, 7L), problems::add);

        // when the topic is created again before the coordinator can
        Uuid again = new Uuid(1, 2);
        image = imageWithTopic(again);
        coordinator.topicId = again;
        coordinator.runTimers(5);
        coordinator.loads = false;
        coordinator.runTimers(5);

        // then
        assertThat(assigned).containsExactly("t[0]", "t[0]");
        assertThat(coordinator.committed).containsOnly(TOPIC);
        assertThat(problems).singleElement().extracting(Problem::type).isEqualTo(ProblemType.CONFLICT);
    }

    private GroupSeat quietSeat() {
        return new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {}

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {}

            @Override
            public void onEnd(Problem problem) {}
        });
    }

    @Test
    void shouldCommitNothingForANewTopicWhenAClientThatIsNoMemberTriesAgain() {
        // given a commit that the coordinator cannot store now
        image = imageWithTopic(TOPIC);
        GroupSeat seat = quietSeat();
        coordinator.loads = true;
        seat.offsets().commit("t", Map.of(0, 7L), problem -> {});
        coordinator.runTimers(1);

        // when the topic is created again before the coordinator can
        image = imageWithTopic(new Uuid(1, 2));
        coordinator.loads = false;
        coordinator.runTimers(5);

        // then
        assertThat(coordinator.committed).hasSizeGreaterThan(1).containsOnly(TOPIC);
    }

    @Test
    void shouldCommitWithoutMembershipWhatWasReadBeforeItSubscribes() {
        // given a commit that waits
        image = imageWithTopic(TOPIC);
        GroupSeat seat = quietSeat();
        coordinator.loads = true;
        List<Problem> problems = new ArrayList<>();
        seat.offsets().commit("t", Map.of(0, 7L), problems::add);

        // when the client becomes a member
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(2);
        coordinator.loads = false;
        coordinator.runTimers(5);

        // then
        assertThat(coordinator.hasMember).isTrue();
        assertThat(problems).containsExactly((Problem) null);
        assertThat(coordinator.commitEpochs).hasSizeGreaterThan(1).containsOnly(-1);
        assertThat(coordinator.committed).containsOnly(TOPIC);
    }

    /** The coordinator gives the partition to another member only when it knows that this one does not use it. */
    @Test
    void shouldConfirmThatItHasNotTakenAPartitionThatIsTakenBack() {
        // given a partition that is assigned, and not taken because an open transaction may change its offset
        image = imageWithTopic(TOPIC);
        GroupSeat seat = quietSeat();
        coordinator.unstable = true;
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(5);
        assertThat(seat.owns("t", 0)).isFalse();
        // when
        coordinator.partitions = List.of();
        coordinator.confirmed = null;
        coordinator.runTimers(5);
        // then
        assertThat(coordinator.confirmed).isEmpty();
    }

    /** During each commit, the client processes more records of the partition. */
    @Test
    void shouldGiveAPartitionUpAfterOneCommitWhenItsClientReadsOn() {
        // given
        image = imageWithTopic(TOPIC);
        List<Long> offsets = new ArrayList<>(List.of(3L, 5L, 8L));
        GroupSeat seat = new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {}

            @Override
            public Map<Integer, Long> takeUncommitted(String topic, Set<Integer> partitions) {
                return offsets.isEmpty() ? Map.of() : Map.of(0, offsets.remove(0));
            }

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {
                assigned.add("not " + topic + partitions);
            }

            @Override
            public void onEnd(Problem problem) {}
        });
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(20);
        // when
        coordinator.partitions = List.of();
        coordinator.runTimers(20);
        // then
        assertThat(coordinator.committed).containsExactly(TOPIC);
        assertThat(assigned).containsExactly("not t[0]");
        assertThat(coordinator.confirmed).isEmpty();
    }

    @Test
    void shouldNotBeginAtAnOffsetThatWasFetchedBeforeAnotherMemberHadThePartition() {
        assertBeginsAtNewOffsetWhen(() -> {
            coordinator.partitions = List.of();
            coordinator.runTimers(5);
            coordinator.partitions = List.of(0);
        });
    }

    @Test
    void shouldNotBeginAtAnOffsetThatWasFetchedBeforeTheMemberWasFenced() {
        assertBeginsAtNewOffsetWhen(() -> coordinator.fences = true);
    }

    @Test
    void shouldNotBeginAtAnOffsetOfATopicThatIsCreatedAgain() {
        assertBeginsAtNewOffsetWhen(() -> {
            Uuid again = new Uuid(1, 2);
            image = imageWithTopic(again);
            coordinator.topicId = again;
        });
    }

    /** For example, the request waits in a broker that is frozen, and that another one replaces as the coordinator. */
    private void assertBeginsAtNewOffsetWhen(Runnable partitionIsLostForAWhile) {
        // given offsets that are being fetched
        image = imageWithTopic(TOPIC);
        GroupSeat seat = new GroupSeat(coordinator, () -> image, "g", new GroupSeat.Reader() {
            @Override
            public void onJoined(Collection<String> wanted) {}

            @Override
            public void onAssigned(String topic, Map<Integer, Long> committed) {
                assigned.add(topic + committed);
            }

            @Override
            public void onRevoked(String topic, Set<Integer> partitions) {}

            @Override
            public void onEnd(Problem problem) {}
        });
        coordinator.offset = 5;
        coordinator.delayed = new ArrayList<>();
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(5);
        assertThat(coordinator.delayed).hasSize(1);

        // when
        partitionIsLostForAWhile.run();
        coordinator.offset = 9;
        coordinator.runTimers(5);
        List<Runnable> late = coordinator.delayed;
        coordinator.delayed = null;
        late.forEach(Runnable::run);
        coordinator.runTimers(5);

        // then
        assertThat(assigned).containsExactly("t{0=9}");
    }

    @Test
    void shouldNotRepeatACommitAfterAnotherMemberHadThePartition() {
        assertCommitsEndWhen(seat -> {
            coordinator.partitions = List.of();
            coordinator.runTimers(5);
            coordinator.partitions = List.of(0);
        });
    }

    @Test
    void shouldNotRepeatACommitAfterTheMemberWasFenced() {
        assertCommitsEndWhen(seat -> coordinator.fences = true);
    }

    @Test
    void shouldNotRepeatACommitAfterTheClientHasSubscribedToTheTopicAgain() {
        assertCommitsEndWhen(seat -> {
            seat.subscribe(List.of("t", "u"), null);
            seat.remove("t");
            coordinator.runTimers(5);
            seat.add("t");
            coordinator.told = null;
        });
    }

    /** The first commit waits in a broker that is frozen, and that another one replaces as the coordinator. */
    private void assertCommitsEndWhen(Consumer<GroupSeat> partitionIsLostForAWhile) {
        // given a commit whose response is late, and one behind it
        image = imageWithTopic(TOPIC);
        GroupSeat seat = quietSeat();
        seat.subscribe(List.of("t"), null);
        coordinator.runTimers(5);
        coordinator.delayedCommits = new ArrayList<>();
        coordinator.loads = true;
        List<Problem> problems = new ArrayList<>();
        seat.offsets().commit("t", Map.of(0, 7L), problems::add);
        seat.offsets().commit("t", Map.of(0, 8L), problems::add);

        // when
        partitionIsLostForAWhile.accept(seat);
        coordinator.runTimers(5);
        assertThat(seat.owns("t", 0)).isTrue();
        List<Runnable> late = coordinator.delayedCommits;
        coordinator.delayedCommits = null;
        coordinator.loads = false;
        late.forEach(Runnable::run);
        coordinator.runTimers(5);

        // then neither is sent to the new coordinator
        assertThat(late).hasSize(1);
        assertThat(coordinator.commitEpochs).hasSize(1);
        assertThat(problems).extracting(Problem::type).containsExactly(ProblemType.CONFLICT, ProblemType.CONFLICT);
    }

    private static MetadataImage imageWithTopic(Uuid id) {
        MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(NODE, 1, 10, 10_000));
        TestBrokers.register(machine, NODE);
        return machine.replay(machine.createTopic(new TopicSpec("t", 1, 1, List.of(), Map.of()), id)
                        .records())
                .now();
    }

    /** A coordinator that assigns one partition to its only member, and says so as {@code ConsumerGroups} does. */
    private static final class Coordinator implements Caller {
        private final List<Runnable> timers = new ArrayList<>();
        private final List<Uuid> committed = new ArrayList<>();
        private final List<Integer> commitEpochs = new ArrayList<>();
        private Uuid topicId = TOPIC;
        private List<Integer> partitions = List.of(0);
        private String told;
        /** The partitions that the member has last reported as its own. */
        private List<ConsumerGroupHeartbeatRequest.TopicPartitions> confirmed;

        private boolean loads;
        private boolean unstable;
        private boolean hasMember;

        /** Whether the next heartbeat is told that the group has lost its member. */
        private boolean fences;

        /** The committed offset of each partition. */
        private long offset = -1;

        /** Responses to commits that are on their way; null if they arrive at once. */
        private List<Runnable> delayedCommits;

        /** Responses with offsets that are on their way; null if they arrive at once. */
        private List<Runnable> delayed;

        void runTimers(int rounds) {
            for (int i = 0; i < rounds; i++) {
                List<Runnable> due = List.copyOf(timers);
                timers.clear();
                due.forEach(Runnable::run);
            }
        }

        @Override
        public void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse) {
            if (api == ApiKey.OFFSET_FETCH && delayed != null) {
                OffsetFetchResponse response = offsets((OffsetFetchRequest) message);
                delayed.add(() -> onResponse.accept(response));
                return;
            }
            if (api == ApiKey.OFFSET_COMMIT && delayedCommits != null) {
                OffsetCommitResponse response = commit((OffsetCommitRequest) message);
                delayedCommits.add(() -> onResponse.accept(response));
                return;
            }
            onResponse.accept(
                    switch (api) {
                        case FIND_COORDINATOR -> new FindCoordinatorResponse();
                        case CONSUMER_GROUP_HEARTBEAT -> heartbeat((ConsumerGroupHeartbeatRequest) message);
                        case OFFSET_COMMIT -> commit((OffsetCommitRequest) message);
                        case OFFSET_FETCH -> offsets((OffsetFetchRequest) message);
                        default -> throw new AssertionError(api);
                    });
        }

        private ConsumerGroupHeartbeatResponse heartbeat(ConsumerGroupHeartbeatRequest request) {
            if (fences) {
                fences = false;
                return new ConsumerGroupHeartbeatResponse().setErrorCode(ErrorCode.UNKNOWN_MEMBER_ID.code());
            }
            hasMember = true;
            ConsumerGroupHeartbeatResponse response = new ConsumerGroupHeartbeatResponse()
                    .setMemberId(request.memberId())
                    .setMemberEpoch(1)
                    .setHeartbeatIntervalMs(5_000);
            confirmed = request.topicPartitions() == null ? confirmed : request.topicPartitions();
            String assignment = topicId + " " + partitions;
            boolean isNew = !assignment.equals(told);
            told = assignment;
            return isNew || request.memberEpoch() == 0 || request.topicPartitions() != null
                    ? response.setAssignment(new ConsumerGroupHeartbeatResponse.Assignment()
                            .setTopicPartitions(List.of(new ConsumerGroupHeartbeatResponse.TopicPartitions()
                                    .setTopicId(topicId)
                                    .setPartitions(partitions))))
                    : response;
        }

        private OffsetCommitResponse commit(OffsetCommitRequest request) {
            request.topics().forEach(topic -> committed.add(topic.topicId()));
            commitEpochs.add(request.generationIdOrMemberEpoch());
            boolean isStranger = hasMember && request.memberId().isEmpty();
            ErrorCode error = isStranger ? ErrorCode.UNKNOWN_MEMBER_ID : ErrorCode.NONE;
            if (loads) {
                error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
            }
            return new OffsetCommitResponse()
                    .setTopics(List.of(new OffsetCommitResponse.OffsetCommitResponseTopic()
                            .setPartitions(List.of(new OffsetCommitResponse.OffsetCommitResponsePartition()
                                    .setErrorCode(error.code())))));
        }

        private OffsetFetchResponse offsets(OffsetFetchRequest request) {
            return new OffsetFetchResponse()
                    .setGroups(List.of(new OffsetFetchResponse.OffsetFetchResponseGroup()
                            .setGroupId("g")
                            .setTopics(request.groups().get(0).topics().stream()
                                    .map(topic -> new OffsetFetchResponse.OffsetFetchResponseTopics()
                                            .setName(topic.name())
                                            .setPartitions(topic.partitionIndexes().stream()
                                                    .map(index ->
                                                            new OffsetFetchResponse.OffsetFetchResponsePartitions()
                                                                    .setPartitionIndex(index)
                                                                    .setErrorCode((unstable
                                                                                    ? ErrorCode.UNSTABLE_OFFSET_COMMIT
                                                                                    : ErrorCode.NONE)
                                                                            .code())
                                                                    .setCommittedOffset(offset))
                                                    .toList()))
                                    .toList())));
        }

        @Override
        public Loop.Timer schedule(Runnable work, long delayMs) {
            timers.add(work);
            return () -> timers.remove(work);
        }

        @Override
        public void later(Runnable work) {
            timers.add(work);
        }

        @Override
        public void fetch(int version, FetchRequest request, RecordMemory memory, Consumer<ApiMessage> onResponse) {
            throw new AssertionError("a seat in a group does not call fetch");
        }

        @Override
        public LoopCycle cycle() {
            throw new AssertionError("a seat in a group does not call cycle");
        }

        @Override
        public ByteBufAllocator allocator() {
            throw new AssertionError("a seat in a group does not call allocator");
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public SharedMemory memory() {
            throw new AssertionError("a seat in a group does not call memory");
        }
    }
}
