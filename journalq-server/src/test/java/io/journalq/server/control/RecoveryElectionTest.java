package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.control.ReplicaEnds.LogEnd;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.PartitionDecider;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three replicas have lost records. The second one was eligible last, and is not back. */
class RecoveryElectionTest {
    private static final Uuid ORDERS = new Uuid(1, 1);
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);

    private long nowMs = 1_000;
    private int asked;

    private final MetadataMachine machine = new MetadataMachine(ControllerFixture.LIMITS);
    private final Map<Integer, LogEnd> ends = new HashMap<>();
    private final Map<Integer, CompletableFuture<Map<TopicPartition, LogEnd>>> responses = new HashMap<>();
    private final RecoveryElection election =
            election((nodeId, partitions) -> respond(nodeId), RecoveryElection.MAX_PARTITIONS);

    @BeforeEach
    void loseRecords() {
        TestBrokers.register(machine, 1, 2, 3);
        apply(machine.createTopic(
                new TopicSpec("orders", -1, -1, List.of(List.of(1, 2, 3)), Map.of("min.insync.replicas", "2")),
                ORDERS));
        apply(machine.beginTerm(1));
        apply(machine.cluster().fence(List.of(3)));
        apply(machine.cluster().fence(List.of(1, 2)));
        for (int nodeId : List.of(1, 2)) {
            long epoch = machine.image().broker(nodeId).epoch();
            apply(machine.cluster().loseRecords(nodeId, epoch, Map.of(ORDERS, List.of(0))));
        }
        assertThat(partition().eligibleLeaders()).isEmpty();
        unfence(3);
        unfence(1);
    }

    private RecoveryElection election(ReplicaEnds from, int maxPartitions) {
        return new RecoveryElection(
                () -> nowMs,
                from,
                decide -> {
                    apply(decide.apply(machine.partitions()));
                    return CompletableFuture.completedFuture(null);
                },
                maxPartitions);
    }

    private void apply(Decision decision) {
        assertThat(decision.accepted()).as(decision.reason()).isTrue();
        machine.replay(decision.records());
    }

    private void unfence(int nodeId) {
        apply(machine.cluster().unfence(nodeId, machine.image().broker(nodeId).epoch()));
    }

    private PartitionImage partition() {
        return machine.image().topic(ORDERS).partitions().get(0);
    }

    private CompletableFuture<Map<TopicPartition, LogEnd>> respond(int nodeId) {
        asked++;
        LogEnd end = ends.get(nodeId);
        return responses.getOrDefault(
                nodeId, CompletableFuture.completedFuture(end == null ? Map.of() : Map.of(PARTITION, end)));
    }

    private void tick() {
        nowMs += 1_000;
        election.onTick(machine.image());
    }

    private void end(int nodeId, int epoch, long offset) {
        ends.put(nodeId, new LogEnd(epoch, offset));
    }

    @Test
    void shouldElectTheReplicaWithTheMostRecordsWhenTheLastEligibleOneIsBack() {
        end(1, 1, 10);
        end(2, 2, 7);
        end(3, 2, 6);
        tick();
        assertThat(asked).as("it is not back").isZero();
        unfence(2);

        tick();

        assertThat(partition().leader()).isEqualTo(2);
        assertThat(partition().inSyncReplicas()).containsExactly(2);
        assertThat(partition().recoveryEpoch()).isEqualTo(partition().leaderEpoch());

        // and nobody is asked again
        int before = asked;
        tick();
        assertThat(asked).isEqualTo(before);
    }

    @Test
    void shouldElectAReplicaThatWasNotEligibleLastWhenItHasMore() {
        unfence(2);
        end(1, -1, 0);
        end(2, 1, 7);
        end(3, 1, 8);

        tick();

        assertThat(partition().leader()).isEqualTo(3);
    }

    @Test
    void shouldElectTheFirstOfEqualReplicas() {
        unfence(2);
        end(1, 1, 7);
        end(2, 1, 7);

        tick();

        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldWaitWhenTheReplicaThatWasEligibleLastCannotBeRead() {
        unfence(2);
        end(1, 1, 7);

        tick();
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);

        end(2, 1, 9);
        tick();
        assertThat(partition().leader()).isEqualTo(2);
    }

    @Test
    void shouldElectLeadersOfOtherPartitionsWhenTheFirstOnesWait() {
        // given two partitions without a leader
        Uuid payments = new Uuid(2, 2);
        TopicPartition readable = new TopicPartition("payments", 0);
        unfence(2);
        apply(machine.createTopic(new TopicSpec("payments", -1, -1, List.of(List.of(1, 2, 3)), Map.of()), payments));
        apply(machine.cluster().fence(List.of(2, 3)));
        apply(machine.cluster().fence(List.of(1)));
        long epoch = machine.image().broker(1).epoch();
        apply(machine.cluster().loseRecords(1, epoch, Map.of(payments, List.of(0))));
        List.of(1, 2, 3).forEach(this::unfence);
        assertThat(machine.image().topic(payments).partitions().get(0).hasLeader())
                .isFalse();
        RecoveryElection oneByOne = election(
                (nodeId, partitions) -> CompletableFuture.completedFuture(
                        partitions.contains(readable) ? Map.of(readable, new LogEnd(1, 5)) : Map.of()),
                1);

        // when the first one cannot be read
        for (int i = 0; i < 2; i++) {
            nowMs += 1_000;
            oneByOne.onTick(machine.image());
        }

        // then
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(machine.image().topic(payments).partitions().get(0).leader()).isEqualTo(1);
    }

    @Test
    void shouldWaitForTheResponsesOfAllLiveBrokers() {
        // given
        unfence(2);
        end(1, 1, 7);
        end(2, 1, 9);
        CompletableFuture<Map<TopicPartition, LogEnd>> late = new CompletableFuture<>();
        responses.put(3, late);

        // when one does not respond, nobody is asked twice
        tick();
        tick();
        assertThat(asked).isEqualTo(3);
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);

        // and when it cannot be reached, it is asked again
        late.completeExceptionally(new IOException("cut"));
        responses.put(3, CompletableFuture.completedFuture(Map.of(PARTITION, new LogEnd(3, 1))));
        tick();

        // then
        assertThat(partition().leader()).isEqualTo(3);
    }

    @Test
    void shouldAskAgainWhenABrokerHasStartedAgainMeanwhile() {
        // given
        unfence(2);
        end(1, 1, 7);
        CompletableFuture<Map<TopicPartition, LogEnd>> late = new CompletableFuture<>();
        responses.put(2, late);
        tick();

        // when
        BrokerRegistration known = machine.image().broker(2).registration();
        BrokerRegistration restarted = new BrokerRegistration(
                2, new Uuid(9, 9), known.listeners(), known.rack(), known.features(), known.logDirectories());
        apply(machine.registrations().register(restarted, -1));
        unfence(2);
        late.complete(Map.of(PARTITION, new LogEnd(1, 9)));
        assertThat(partition().leader()).as("it may have lost more").isEqualTo(PartitionImage.NO_LEADER);

        // then
        responses.clear();
        end(2, 1, 3);
        tick();
        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldNotElectAReplicaWhoseBrokerIsFencedMeanwhile() {
        // given
        unfence(2);
        end(1, 1, 7);
        end(2, 1, 7);
        CompletableFuture<Map<TopicPartition, LogEnd>> late = new CompletableFuture<>();
        responses.put(3, late);
        tick();

        // when the one with the most records is gone before the decision
        apply(machine.cluster().fence(List.of(3)));
        late.complete(Map.of(PARTITION, new LogEnd(1, 9)));

        // then nobody leads before the others are compared again
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        tick();
        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldNotElectAReplicaWhenThePartitionHasChangedMeanwhile() {
        // given the ends of all replicas
        unfence(2);
        int before = partition().partitionEpoch();
        Map<Integer, Long> compared = new HashMap<>();
        for (int nodeId : List.of(1, 2, 3)) {
            compared.put(nodeId, machine.image().broker(nodeId).epoch());
        }

        // when the decision is about an earlier partition epoch
        Decision late = machine.partitions()
                .recover(List.of(new PartitionDecider.Recovery(ORDERS, 0, before - 1, 1)), compared);

        // then
        assertThat(late.records()).isEmpty();
        apply(machine.partitions().recover(List.of(new PartitionDecider.Recovery(ORDERS, 0, before, 1)), compared));
        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldWaitForAReplicaThatIsEligible() {
        // given a replica that has lost records, and a fenced one that has lost none
        unfence(2);
        Uuid payments = new Uuid(1, 2);
        apply(machine.createTopic(
                new TopicSpec("payments", -1, -1, List.of(List.of(1, 2)), Map.of("min.insync.replicas", "2")),
                payments));
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.cluster().fence(List.of(1)));
        long epoch = machine.image().broker(1).epoch();
        apply(machine.cluster().loseRecords(1, epoch, Map.of(payments, List.of(0))));
        unfence(1);

        // when
        tick();

        // then no acknowledged record is given up
        assertThat(asked).isZero();
        assertThat(machine.image().topic(payments).partitions().get(0).leader()).isEqualTo(PartitionImage.NO_LEADER);
        unfence(2);
        assertThat(machine.image().topic(payments).partitions().get(0).leader()).isEqualTo(2);
    }
}
