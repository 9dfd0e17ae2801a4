package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A partition of brokers 1, 2 and 3 moves to fewer of them. */
class ReassignmentCompletionTest {
    private static final Uuid ORDERS = new Uuid(1, 1);

    private long nowMs = 1_000;
    private int decisions;
    private RuntimeException failure;

    private final MetadataMachine machine = new MetadataMachine(ControllerFixture.LIMITS);
    /** What the brokers have applied, as their last heartbeats said. */
    private final Map<Integer, Long> heard = new HashMap<>();

    private final ReassignmentCompletion completion =
            new ReassignmentCompletion(() -> nowMs, node -> heard.getOrDefault(node, -1L), decide -> {
                decisions++;
                if (failure != null) {
                    return CompletableFuture.failedFuture(failure);
                }
                apply(decide.apply(machine.partitions()));
                return CompletableFuture.completedFuture(null);
            });

    @BeforeEach
    void create() {
        TestBrokers.register(machine, 1, 2, 3);
        apply(machine.createTopic(
                new TopicSpec("orders", -1, -1, List.of(List.of(1, 2, 3)), Map.of("delivery.mode", "eventual")),
                ORDERS));
        hear(1, 2, 3);
    }

    private void apply(Decision decision) {
        assertThat(decision.accepted()).as(decision.reason()).isTrue();
        machine.replay(decision.records());
    }

    private void reassign(Integer... target) {
        apply(machine.partitions().reassign("orders", 0, List.of(target), true));
    }

    private List<Integer> replicas() {
        return partition().replicas();
    }

    private PartitionImage partition() {
        return machine.image().topic(ORDERS).partitions().get(0);
    }

    private void hear(int... nodes) {
        for (int node : nodes) {
            heard.put(node, machine.image().version());
        }
    }

    private void tick() {
        nowMs += 1_000;
        completion.onTick(machine.image());
    }

    @Test
    void shouldWaitUntilTheReplicaThatRemainsKnowsThatItDoes() {
        reassign(2);
        tick();
        hear(1, 3);
        tick();
        assertThat(replicas()).containsExactly(2, 1, 3);

        hear(2);
        tick();

        assertThat(replicas()).containsExactly(2);
        assertThat(partition().leader()).isEqualTo(2);
        int before = decisions;
        tick();
        assertThat(decisions).isEqualTo(before);
    }

    @Test
    void shouldKeepTheOldReplicasWhenTheOneThatShouldRemainIsFencedInstead() {
        reassign(2);
        tick();

        apply(machine.cluster().fence(List.of(2)));
        hear(1, 3);
        tick();
        tick();

        assertThat(replicas()).containsExactly(2, 1, 3);
        assertThat(decisions).isZero();
    }

    @Test
    void shouldWaitAgainWhenThePartitionChanges() {
        reassign(2, 3);
        tick();
        apply(machine.cluster().fence(List.of(1)));
        tick();

        hear(2);
        tick();
        assertThat(replicas()).as("broker 3 was not heard from").hasSize(3);
        hear(3);
        tick();

        assertThat(replicas()).containsExactly(2, 3);
    }

    @Test
    void shouldWaitForAConfirmationInItsOwnTerm() {
        reassign(2);
        tick();
        hear(2);
        completion.begin();
        heard.clear();

        tick();
        assertThat(replicas()).hasSize(3);
        hear(2);
        tick();

        assertThat(replicas()).containsExactly(2);
    }

    @Test
    void shouldTryAgainWhenAChangeFails() {
        reassign(2);
        tick();
        hear(2);
        failure = new IllegalStateException("the outcome is not known");
        tick();
        assertThat(replicas()).hasSize(3);
        failure = null;

        tick();
        tick();

        assertThat(replicas()).containsExactly(2);
    }
}
