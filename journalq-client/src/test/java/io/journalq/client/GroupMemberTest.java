package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.BrokerErrorException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.FakeCoordinator;
import io.journalq.client.fake.Fault;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a member of a group does when its coordinator moves, refuses, or is not heard. */
@Timeout(60)
final class GroupMemberTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);

    private FakeCluster cluster;
    private FakeCoordinator coordinator;
    private Consumer consumer;
    private final List<String> heard = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(2).topic("orders", 2);
        coordinator = cluster.coordinator();
        coordinator.assign(List.of(FIRST, SECOND));
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            for (int i = 0; i < 20; i++) {
                producer.send(ProducerRecord.of(
                        "orders", i % 2, null, Integer.toString(i).getBytes(UTF_8)));
            }
        }
    }

    @AfterEach
    void stop() {
        if (consumer != null) {
            consumer.close();
        }
        cluster.close();
    }

    @Test
    void shouldFollowTheCoordinatorWhenItMoves() {
        join(builder());
        await(() -> consumer.assignment().size() == 2);
        // when
        coordinator.moveTo(1);
        consumer.commit(Map.of(FIRST, CommittedOffset.of(7)));
        coordinator.moveTo(0);
        // then
        assertThat(consumer.committed(List.of(FIRST))).isEqualTo(Map.of(FIRST, CommittedOffset.of(7)));
        await(() -> heartbeats().stream().filter(beat -> beat.memberEpoch() > 0).count() > 5);
        assertThat(heard).containsExactly("assigned 2");
    }

    @Test
    void shouldLookTheCoordinatorUpAgainWhenTheOneThatWasNamedHasNoAddress() {
        coordinator.nameAbsentBrokerOnce();
        // when
        join(builder());
        // then
        await(() -> consumer.assignment().size() == 2);
    }

    @Test
    void shouldTryAgainWhileTheCoordinatorLoads() {
        ErrorCode loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
        coordinator.refuse(ApiKey.CONSUMER_GROUP_HEARTBEAT, loading, ErrorCode.COORDINATOR_NOT_AVAILABLE, loading);
        coordinator.refuse(ApiKey.OFFSET_FETCH, loading, ErrorCode.UNSTABLE_OFFSET_COMMIT);
        coordinator.refuse(ApiKey.OFFSET_COMMIT, loading, loading);
        // when
        join(builder());
        await(() -> read() == 20);
        consumer.commit();
        // then
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
        assertThat(coordinator.committed(SECOND)).isEqualTo(10);
    }

    @Test
    void shouldLetGoAndJoinAgainWhenItIsFenced() {
        join(builder());
        await(() -> consumer.assignment().size() == 2);
        String memberId = consumer.groupMember().memberId();
        // when
        coordinator.refuse(ApiKey.CONSUMER_GROUP_HEARTBEAT, ErrorCode.FENCED_MEMBER_EPOCH);
        await(() -> heard.size() == 3);
        // then
        assertThat(heard).containsExactly("assigned 2", "lost 2", "assigned 2");
        assertThat(consumer.groupMember().memberId()).isEqualTo(memberId);
        assertThat(heartbeats()).filteredOn(beat -> beat.memberEpoch() == 0).hasSize(2);
    }

    @Test
    void shouldRepeatEverythingWhenAResponseIsLost() {
        join(builder());
        await(() -> consumer.assignment().size() == 2);
        int before = heartbeats().size();
        // when
        AtomicBoolean once = new AtomicBoolean(true);
        cluster.faults(
                key -> key == ApiKey.CONSUMER_GROUP_HEARTBEAT && once.getAndSet(false) ? Fault.DROP_AFTER : Fault.NONE);
        await(() -> heartbeats().stream().skip(before).anyMatch(beat -> beat.subscribedTopicNames() != null));
        // then
        ConsumerGroupHeartbeatRequest full = heartbeats().stream()
                .skip(before)
                .filter(beat -> beat.subscribedTopicNames() != null)
                .findFirst()
                .orElseThrow();
        assertThat(full.memberEpoch()).isPositive();
        assertThat(full.subscribedTopicNames()).containsExactly("orders");
        assertThat(full.topicPartitions()).hasSize(1);
        assertThat(full.topicPartitions().get(0).partitions()).containsExactlyInAnyOrder(0, 1);
        assertThat(heard).containsExactly("assigned 2");
    }

    @Test
    void shouldCommitBeforeItTellsThatItGaveAPartitionUp() {
        join(builder().autoCommitInterval(Duration.ofHours(1)));
        await(() -> read() == 20);
        int before = coordinator.asked().size();
        // when
        coordinator.assign(List.of(SECOND));
        await(() -> consumer.assignment().equals(Set.of(SECOND)));
        await(() -> coordinator.asked().stream().skip(before).anyMatch(GroupMemberTest::tellsWhatItOwns));
        // then
        List<ApiKey> order = coordinator.asked().stream()
                .skip(before)
                .filter(asked -> asked.key() == ApiKey.OFFSET_COMMIT || tellsWhatItOwns(asked))
                .map(FakeCoordinator.Asked::key)
                .toList();
        assertThat(order).startsWith(ApiKey.OFFSET_COMMIT, ApiKey.CONSUMER_GROUP_HEARTBEAT);
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
        assertThat(coordinator.committed(SECOND)).isNull();
        assertThat(heard).containsExactly("assigned 2", "revoked 1");
    }

    @Test
    void shouldCommitWhatItKeptWhenItClosesAfterItGaveAnotherPartitionUp() {
        join(builder().autoCommitInterval(Duration.ofHours(1)));
        await(() -> read() == 20);
        coordinator.assign(List.of(SECOND));
        await(() -> consumer.assignment().equals(Set.of(SECOND)));
        // when
        consumer.close();
        // then
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
        assertThat(coordinator.committed(SECOND)).isEqualTo(10);
    }

    @Test
    void shouldNotRepeatACommitOfALostMembership() {
        join(builder().autoCommit(false));
        await(() -> consumer.assignment().size() == 2);
        ErrorCode[] refusals = new ErrorCode[1_000];
        Arrays.fill(refusals, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS);
        coordinator.refuse(ApiKey.OFFSET_COMMIT, refusals);
        CompletableFuture<Void> commit = consumer.commitAsync(Map.of(FIRST, CommittedOffset.of(3)));
        // when
        coordinator.refuse(ApiKey.CONSUMER_GROUP_HEARTBEAT, ErrorCode.FENCED_MEMBER_EPOCH);
        await(() -> heard.size() == 3);
        await(commit::isDone);
        // then
        assertThat(heard).containsExactly("assigned 2", "lost 2", "assigned 2");
        assertThat(commit)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(MembershipLostException.class);
    }

    @Test
    void shouldCommitUnderTheNewEpochWhenTheOldOneIsStale() {
        join(builder().autoCommit(false));
        await(() -> consumer.assignment().size() == 2);
        coordinator.refuse(ApiKey.OFFSET_COMMIT, ErrorCode.STALE_MEMBER_EPOCH);
        consumer.commit(Map.of(FIRST, CommittedOffset.of(3)));
        assertThat(coordinator.committed(FIRST)).isEqualTo(3);
        // but not when the group does not know the member
        coordinator.refuse(ApiKey.OFFSET_COMMIT, ErrorCode.UNKNOWN_MEMBER_ID);
        assertThatThrownBy(() -> consumer.commit(Map.of(FIRST, CommittedOffset.of(4))))
                .isInstanceOf(MembershipLostException.class);
        assertThat(coordinator.committed(FIRST)).isEqualTo(3);
    }

    @Test
    void shouldConfirmWhatItHasWhenAPartitionIsTakenBackBeforeItPolls() {
        coordinator.assign(List.of(FIRST));
        join(builder());
        await(() -> consumer.assignment().equals(Set.of(FIRST)));
        // when another partition is assigned, and then given to another member, between two polls
        coordinator.assign(List.of(FIRST, SECOND));
        awaitHeartbeatInTheLastEpoch();
        coordinator.assign(List.of(FIRST));
        awaitHeartbeatInTheLastEpoch();
        int before = heartbeats().size();
        // then the group learns that this member does not use it
        await(() -> heartbeats().stream().skip(before).anyMatch(beat -> beat.topicPartitions() != null));
        ConsumerGroupHeartbeatRequest confirming = heartbeats().stream()
                .skip(before)
                .filter(beat -> beat.topicPartitions() != null)
                .findFirst()
                .orElseThrow();
        assertThat(confirming.topicPartitions()).hasSize(1);
        assertThat(confirming.topicPartitions().get(0).partitions()).containsExactly(0);
        assertThat(heard).containsExactly("assigned 1");
    }

    /** A member has only the epoch of its last whole assignment while the group waits for it to give partitions up. */
    @Test
    void shouldConfirmWhatItHasWhenAPartitionComesAndGoesInOneEpoch() {
        coordinator.assign(List.of(FIRST));
        join(builder());
        await(() -> consumer.assignment().equals(Set.of(FIRST)));
        await(() -> heartbeats().stream().anyMatch(GroupMemberTest::ownsOnlyTheFirst));
        // when another partition becomes free for it, and is then taken back, between two polls
        coordinator.assignInThisEpoch(List.of(FIRST, SECOND));
        awaitHeartbeats(2);
        coordinator.assignInThisEpoch(List.of(FIRST));
        awaitHeartbeats(2);
        int before = heartbeats().size();
        // then the group learns that this member does not use it, once
        await(() -> heartbeats().stream().skip(before).anyMatch(GroupMemberTest::ownsOnlyTheFirst));
        await(() -> heartbeats().size() > before + 4);
        assertThat(heartbeats().stream().skip(before).filter(beat -> beat.topicPartitions() != null))
                .hasSize(1);
        assertThat(heard).containsExactly("assigned 1");
    }

    private static boolean ownsOnlyTheFirst(ConsumerGroupHeartbeatRequest beat) {
        return beat.memberEpoch() > 0
                && beat.topicPartitions() != null
                && beat.topicPartitions().size() == 1
                && beat.topicPartitions().get(0).partitions().equals(List.of(FIRST.partition()));
    }

    /** Waits until the member has sent {@code count} more heartbeats, without polling. */
    private void awaitHeartbeats(int count) {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        int before = heartbeats().size();
        while (heartbeats().size() < before + count) {
            assertThat(System.nanoTime()).isLessThan(endNanos);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    /** Waits until the member has received its assignment, without polling. */
    private void awaitHeartbeatInTheLastEpoch() {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        int before = heartbeats().size();
        int epoch = heartbeats().get(before - 1).memberEpoch();
        while (heartbeats().stream().skip(before).noneMatch(beat -> beat.memberEpoch() > epoch)) {
            assertThat(System.nanoTime()).isLessThan(endNanos);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    @Test
    void shouldNotCommitPositionsOfADeletedTopicIntoANewOneOfItsName() {
        join(builder().autoCommitInterval(Duration.ofHours(1)));
        await(() -> read() == 20);
        // when
        cluster.topic("orders", 2);
        coordinator.assign(List.of(FIRST, SECOND));
        await(() -> heard.size() == 3);
        // then
        assertThat(heard).containsExactly("assigned 2", "revoked 2", "assigned 2");
        assertThat(coordinator.committed(FIRST)).isNull();
        assertThat(coordinator.committed(SECOND)).isNull();
        // and the new one is read and committed
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            producer.send(ProducerRecord.of("orders", 0, null, "new".getBytes(UTF_8)));
        }
        await(() -> read() == 21);
        consumer.commit();
        assertThat(coordinator.committed(FIRST)).isEqualTo(1);
    }

    @Test
    void shouldNameTopicsWhenItCommitsToAnOlderBroker() {
        cluster.limit(ApiKey.OFFSET_COMMIT, 9);
        join(builder().autoCommit(false));
        await(() -> read() == 20);
        consumer.commit();
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
    }

    @Test
    void shouldWaitForEarlierCommitsWhenThereIsNothingToCommit() {
        join(builder().autoCommit(false));
        await(() -> consumer.assignment().size() == 2);
        ErrorCode loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
        coordinator.refuse(ApiKey.OFFSET_COMMIT, loading, loading, loading);
        var unused = consumer.commitAsync(Map.of(FIRST, CommittedOffset.of(3)));
        // when
        consumer.commit(Map.of());
        // then
        assertThat(coordinator.committed(FIRST)).isEqualTo(3);
    }

    @Test
    void shouldKeepTheOrderOfCommitsWhenOneIsTriedAgain() throws Exception {
        join(builder().autoCommit(false));
        await(() -> consumer.assignment().size() == 2);
        ErrorCode loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
        coordinator.refuse(ApiKey.OFFSET_COMMIT, loading, loading, loading);
        // when
        List<CompletableFuture<Void>> commits = new ArrayList<>();
        for (int i = 1; i <= 50; i++) {
            commits.add(consumer.commitAsync(Map.of(FIRST, CommittedOffset.of(i))));
        }
        for (CompletableFuture<Void> commit : commits) {
            commit.get(30, TimeUnit.SECONDS);
        }
        // then
        List<Long> offsets = coordinator.asked(ApiKey.OFFSET_COMMIT, OffsetCommitRequest.class).stream()
                .map(request -> request.topics().get(0).partitions().get(0).committedOffset())
                .toList();
        assertThat(offsets).isSorted().endsWith(50L);
        assertThat(coordinator.committed(FIRST)).isEqualTo(50);
    }

    @Test
    void shouldCommitAfterACommitThatCannotBeWritten() {
        join(builder().callTimeout(Duration.ofSeconds(5)));
        await(() -> consumer.assignment().size() == 2);
        // when
        CommittedOffset tooLong = CommittedOffset.of(1, "x".repeat(40_000));
        assertThatThrownBy(() -> consumer.commit(Map.of(FIRST, tooLong)))
                .isInstanceOf(JournalQException.class)
                .hasMessageContaining("a string of 40000 bytes");
        // then
        consumer.commit(Map.of(FIRST, CommittedOffset.of(2)));
        assertThat(coordinator.committed(FIRST)).isEqualTo(2);
    }

    @Test
    void shouldReadAPartitionThatHasBeenAdded() {
        join(builder());
        await(() -> read() == 20);
        // when
        TopicPartition added = new TopicPartition("orders", 2);
        cluster.addPartition("orders");
        coordinator.assign(List.of(FIRST, SECOND, added));
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            producer.send(ProducerRecord.of("orders", 0, null, new byte[1]));
            producer.send(ProducerRecord.of("orders", 2, null, new byte[1]));
        }
        // then
        await(() -> read() == 22);
        assertThat(heard).containsExactly("assigned 2", "assigned 1");
    }

    @Test
    void shouldCommitBeforeItGivesUpPartitionsThatWereAssignedByHand() {
        consumer = builder().autoCommitInterval(Duration.ofHours(1)).build();
        consumer.assign(List.of(FIRST, SECOND));
        await(() -> read() == 20);
        // when
        consumer.assign(List.of(SECOND));
        consumer.unsubscribe();
        // then
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
        assertThat(coordinator.committed(SECOND)).isEqualTo(10);
    }

    @Test
    void shouldCommitPartitionsAgainWhenTheirCommitFailedAsItGaveThemUp() {
        consumer = builder().autoCommitInterval(Duration.ofHours(1)).build();
        consumer.assign(List.of(FIRST));
        await(() -> read() == 10);
        coordinator.refuse(ApiKey.OFFSET_COMMIT, ErrorCode.GROUP_AUTHORIZATION_FAILED);
        consumer.unsubscribe();
        assertThat(coordinator.committed(FIRST)).isNull();
        // when
        consumer.assign(List.of(FIRST));
        await(() -> read() == 20);
        consumer.unsubscribe();
        // then
        assertThat(coordinator.committed(FIRST)).isEqualTo(10);
    }

    @Test
    void shouldRestWhileTheNamesOfItsTopicsAreLookedUp() {
        cluster.faults(key -> key == ApiKey.METADATA && !heartbeats().isEmpty() ? Fault.DEAF : Fault.NONE);
        join(builder().callTimeout(Duration.ofSeconds(20)));
        await(() -> !heartbeats().isEmpty());
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long usedNanos = threads.getCurrentThreadCpuTime();
        // when
        consumer.poll(Duration.ofSeconds(3));
        // then
        assertThat(threads.getCurrentThreadCpuTime() - usedNanos).isLessThan(TimeUnit.MILLISECONDS.toNanos(100));
        cluster.faults(key -> Fault.NONE);
        cluster.dropConnections();
        await(() -> consumer.assignment().size() == 2);
    }

    @Test
    void shouldThrowAtEveryPollWhenTheGroupDoesNotTakeIt() {
        coordinator.refuse(ApiKey.CONSUMER_GROUP_HEARTBEAT, ErrorCode.UNSUPPORTED_ASSIGNOR);
        join(builder());
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> await(() -> consumer.assignment().size() == 2))
                    .isInstanceOf(BrokerErrorException.class)
                    .hasMessageContaining("use an assignor that the broker supports");
        }
        // when it subscribes again
        consumer.subscribe(List.of("orders"), new Listener());
        await(() -> consumer.assignment().size() == 2);
    }

    @Test
    void shouldSayThatTheBrokerIsTooOldWhenItServesNoGroups() {
        cluster.withdraw(ApiKey.CONSUMER_GROUP_HEARTBEAT);
        join(builder());
        assertThatThrownBy(() -> await(() -> consumer.assignment().size() == 2))
                .isInstanceOf(UnsupportedByBrokerException.class)
                .hasMessageContaining("consumer group protocol");
    }

    @Test
    void shouldCloseInTimeWhenTheCoordinatorRespondsToNothing() {
        join(builder().callTimeout(Duration.ofSeconds(3)).autoCommitInterval(Duration.ofMinutes(1)));
        await(() -> read() == 20);
        cluster.faults(key -> key == ApiKey.OFFSET_COMMIT ? Fault.DEAF : Fault.NONE);
        long begunNanos = System.nanoTime();
        // when neither the commit nor the leave gets a response
        consumer.close();
        // then it has not waited for both of them as long
        assertThat(System.nanoTime() - begunNanos).isLessThan(TimeUnit.SECONDS.toNanos(5));
        assertThat(heard).containsExactly("assigned 2", "revoked 2");
    }

    private static boolean tellsWhatItOwns(FakeCoordinator.Asked asked) {
        return asked.request() instanceof ConsumerGroupHeartbeatRequest beat && beat.topicPartitions() != null;
    }

    private Consumer.Builder builder() {
        return Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .groupId("billing")
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .fetchMaxWait(Duration.ofMillis(50))
                .startAt(Consumer.Start.BEGINNING);
    }

    private void join(Consumer.Builder builder) {
        consumer = builder.build();
        consumer.subscribe(List.of("orders"), new Listener());
    }

    private long read() {
        return consumer.metrics().records();
    }

    private List<ConsumerGroupHeartbeatRequest> heartbeats() {
        return coordinator.asked(ApiKey.CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest.class);
    }

    private void await(BooleanSupplier condition) {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("%s", heard).isLessThan(endNanos);
            consumer.poll(Duration.ofMillis(20));
        }
    }

    private final class Listener implements RebalanceListener {
        @Override
        public void onAssigned(Collection<TopicPartition> partitions) {
            heard.add("assigned " + partitions.size());
        }

        @Override
        public void onRevoked(Collection<TopicPartition> partitions) {
            heard.add("revoked " + partitions.size());
        }

        @Override
        public void onLost(Collection<TopicPartition> partitions) {
            heard.add("lost " + partitions.size());
        }
    }
}
