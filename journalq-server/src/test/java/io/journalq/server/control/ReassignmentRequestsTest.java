package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.Controller.ReassignmentSpec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.InSyncProposal.Member;
import io.journalq.server.metadata.partition.PartitionImage;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A partition of broker 2 moves to brokers 3 and 4, and that is cancelled, or gets another target. */
class ReassignmentRequestsTest {
    private static final int SELF = ControllerFixture.NODE;
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    private static final int SESSION_TIMEOUT_MS = 3_000;
    /** Time between two heartbeats. */
    private static final int INTERVAL_MS = 400;

    private final AtomicLong ids = new AtomicLong();
    private final AtomicLong nowMs = new AtomicLong(1_000_000);
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private final MetadataMachine other = new MetadataMachine(ControllerFixture.LIMITS);
    private ElectedLog log;
    private Controller controller;

    @BeforeEach
    void start() throws Exception {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        log = new ElectedLog(new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT));
        controller = new Controller(
                new MetadataReplica(new MetadataMachine(ControllerFixture.LIMITS), publisher),
                log,
                () -> new Uuid(1, ids.incrementAndGet()),
                Controller.newThread());
        controller.watchBrokers(
                nowMs::get, SESSION_TIMEOUT_MS, INTERVAL_MS, (nodeId, partitions) -> new CompletableFuture<>());
        controller.start(clusterId -> {}).join();
        commitOfOther(other.format(new Uuid(7, 7)));
        for (int nodeId = SELF; nodeId <= 5; nodeId++) {
            commitOfOther(other.registrations().register(TestBrokers.registration(nodeId), -1));
        }
        log.elect(SELF, 3, SELF);
        settle();
        TopicSpec spec = new TopicSpec("orders", -1, -1, List.of(List.of(2)), Map.of("delivery.mode", "eventual"));
        await(controller.createTopics(List.of(spec), false));
        assertThat(await(reassign(3, 4))).isEqualTo(ErrorCode.NONE);
        hear(1, 2, 3, 4, 5);
    }

    @AfterEach
    void close() throws IOException {
        controller.close();
    }

    private void commitOfOther(Decision decision) {
        long offset = publisher.current().version();
        other.replay(decision.records());
        log.commit(new MetadataBatch(offset, decision.records()));
    }

    private static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    private CompletableFuture<ErrorCode> reassign(Integer... target) {
        return alter(List.of(target));
    }

    private CompletableFuture<ErrorCode> cancel() {
        return alter(null);
    }

    private CompletableFuture<ErrorCode> alter(List<Integer> target) {
        return controller
                .reassign(List.of(new ReassignmentSpec(ORDERS, target, true)))
                .thenApply(outcomes -> outcomes.get(0).error());
    }

    /** The leader says that these replicas are in sync. */
    private void propose(int... nodes) throws Exception {
        MetadataImage image = publisher.current();
        InSyncProposal proposal = new InSyncProposal(
                image.topic("orders").id(),
                0,
                partition().leaderEpoch(),
                partition().partitionEpoch(),
                Arrays.stream(nodes)
                        .mapToObj(node -> new Member(node, image.broker(node).epoch()))
                        .toList());
        int leader = partition().leader();
        await(controller.alterPartitions(leader, image.broker(leader).epoch(), List.of(proposal)));
        assertThat(partition().inSyncReplicas()).hasSize(nodes.length);
    }

    private PartitionImage partition() {
        return publisher.current().topic("orders").partitions().get(0);
    }

    /** Brokers send heartbeats. */
    private void hear(int... nodes) throws Exception {
        hear(publisher.current().version(), nodes);
    }

    private void hear(long version, int... nodes) throws Exception {
        for (int node : nodes) {
            long epoch = publisher.current().broker(node).epoch();
            await(controller.heartbeat(new BrokerHeartbeat(node, epoch, version, false, false, List.of())));
        }
    }

    private void tick() throws Exception {
        nowMs.addAndGet(Controller.TICK_MS);
        controller.tick();
        settle();
    }

    /** Returns when the operations so far, and those that they start, are done. */
    private void settle() throws Exception {
        await(controller.allocateProducerIds(1));
        await(controller.allocateProducerIds(1));
    }

    private void pass(int ms) throws Exception {
        for (int passed = 0; passed < ms; passed += Controller.TICK_MS) {
            tick();
        }
    }

    @Test
    void shouldCancelWhenTheReplicaThatRemainsShowsThatItIsAlive() throws Exception {
        propose(2, 3);
        hear(1, 2, 3, 4, 5);
        long before = publisher.current().version();

        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();
        tick();
        // A heartbeat that was sent before the request.
        hear(before, 2);
        hear(1, 3, 4, 5);
        tick();
        assertThat(partition().replicas()).containsExactlyInAnyOrder(2, 3, 4);
        assertThat(cancelled).isNotDone();

        hear(2);
        tick();

        assertThat(await(cancelled)).isEqualTo(ErrorCode.NONE);
        assertThat(partition().replicas()).containsExactly(2);
        assertThat(partition().reassignment().isInProgress()).isFalse();
        long after = publisher.current().version();
        pass(500);
        assertThat(publisher.current().version()).as("producer ids only").isEqualTo(after + 20);
    }

    @Test
    void shouldKeepTheNewReplicasWhenTheOneThatShouldRemainIsFencedInstead() throws Exception {
        propose(2, 3);
        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();

        for (int passed = 0; passed < SESSION_TIMEOUT_MS; passed += INTERVAL_MS) {
            hear(1, 3, 4, 5);
            pass(INTERVAL_MS);
        }

        assertThat(await(cancelled)).isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(publisher.current().broker(2).fenced()).isTrue();
        assertThat(partition().replicas()).containsExactlyInAnyOrder(2, 3, 4);
        assertThat(partition().leader()).isEqualTo(3);
    }

    @Test
    void shouldWaitWhenAnotherTargetDropsAnInSyncReplica() throws Exception {
        propose(2, 3);
        CompletableFuture<ErrorCode> changed = reassign(4, 5);
        settle();
        tick();
        assertThat(partition().replicas()).contains(3);

        hear(2);
        tick();

        assertThat(await(changed)).isEqualTo(ErrorCode.NONE);
        assertThat(partition().replicas()).containsExactly(4, 5, 2);
        assertThat(partition().reassignment().adding()).containsExactly(4, 5);
    }

    @Test
    void shouldNotWaitWhenNoInSyncReplicaLeaves() throws Exception {
        assertThat(await(reassign(3, 5))).isEqualTo(ErrorCode.NONE);
        assertThat(partition().replicas()).containsExactly(3, 5, 2);
        propose(2, 3);
        assertThat(await(reassign(3, 4))).as("broker 3 stays").isEqualTo(ErrorCode.NONE);
        propose(2);

        long before = publisher.current().version();
        assertThat(await(cancel())).isEqualTo(ErrorCode.NONE);

        assertThat(partition().replicas()).containsExactly(2);
        assertThat(publisher.current().version()).isEqualTo(before + 1);
    }

    @Test
    void shouldWaitForALaterReplicaAsWell() throws Exception {
        // given a partition of brokers 1 and 2. Only broker 2 is in sync at the time of the request
        assertThat(await(cancel())).isEqualTo(ErrorCode.NONE);
        assertThat(await(reassign(1, 2))).isEqualTo(ErrorCode.NONE);
        propose(2, 1);
        hear(1, 2);
        pass(200);
        assertThat(partition().replicas()).containsExactly(1, 2);
        assertThat(partition().reassignment().isInProgress()).isFalse();
        propose(2);
        assertThat(await(reassign(3, 4))).isEqualTo(ErrorCode.NONE);
        propose(2, 3);
        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();

        // when the other one joins
        propose(2, 3, 1);
        hear(2);
        tick();
        assertThat(partition().replicas()).hasSize(4);
        hear(1);
        tick();

        // then
        assertThat(await(cancelled)).isEqualTo(ErrorCode.NONE);
        assertThat(partition().inSyncReplicas()).containsExactlyInAnyOrder(1, 2);
    }

    @Test
    void shouldStopWaitingForABrokerThatLivesAndLacksMetadata() throws Exception {
        propose(2, 3);
        long before = publisher.current().version();
        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();

        for (int passed = 0; passed < SESSION_TIMEOUT_MS; passed += INTERVAL_MS) {
            hear(before, 1, 2, 3, 4, 5);
            pass(INTERVAL_MS);
        }
        assertThat(cancelled).isNotDone();
        for (int passed = 0; passed < 1_000; passed += INTERVAL_MS) {
            hear(before, 1, 2, 3, 4, 5);
            pass(INTERVAL_MS);
        }

        assertThat(await(cancelled)).isEqualTo(ErrorCode.NONE);
        assertThat(partition().replicas()).containsExactly(2);
    }

    @Test
    void shouldFailWhenTheControllerChanges() throws Exception {
        propose(2, 3);
        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();

        log.elect(5, 4, SELF);
        controller.tick();

        assertThatThrownBy(() -> await(cancelled)).hasCauseInstanceOf(NotControllerException.class);
        assertThat(partition().replicas()).hasSize(3);
    }

    @Test
    void shouldFailWhenTheControllerIsElectedAgain() throws Exception {
        propose(2, 3);
        CompletableFuture<ErrorCode> cancelled = cancel();
        settle();

        log.elect(5, 4, SELF);
        log.elect(SELF, 5, SELF);
        settle();
        hear(1, 2, 3, 4, 5);
        tick();

        assertThatThrownBy(() -> await(cancelled)).hasCauseInstanceOf(NotControllerException.class);
        assertThat(partition().replicas()).hasSize(3);
    }
}
