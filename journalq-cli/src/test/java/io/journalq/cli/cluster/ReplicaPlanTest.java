package io.journalq.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.admin.BrokerNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ReplicaPlanTest {
    private static final List<BrokerNode> BROKERS = List.of(broker(1, null), broker(2, null), broker(3, null));

    private static BrokerNode broker(int id, String rack) {
        return new BrokerNode(id, "host" + id, 9092, rack, false);
    }

    @Test
    void shouldSpreadReplicasAndLeadersWhenABrokerHadThemAll() {
        List<List<Integer>> placed = Collections.nCopies(6, List.of(1));
        ReplicaPlan plan = new ReplicaPlan(BROKERS, placed);

        Map<Integer, Integer> preferred = new TreeMap<>();
        Map<Integer, Integer> replicas = new TreeMap<>();
        for (List<Integer> before : placed) {
            List<Integer> after = plan.place(before, before, before, 2);
            assertThat(after).hasSize(2).doesNotHaveDuplicates().contains(1);
            preferred.merge(after.get(0), 1, Integer::sum);
            after.forEach(id -> replicas.merge(id, 1, Integer::sum));
        }

        assertThat(preferred).isEqualTo(Map.of(1, 2, 2, 2, 3, 2));
        assertThat(replicas).isEqualTo(Map.of(1, 6, 2, 3, 3, 3));
    }

    @Test
    void shouldUseOtherRacksWhenThereAreSome() {
        List<BrokerNode> brokers = List.of(broker(1, "a"), broker(2, "a"), broker(3, "b"), broker(4, "b"));
        ReplicaPlan plan = new ReplicaPlan(brokers, List.of(List.of(1), List.of(3), List.of(3)));

        assertThat(plan.place(List.of(1), List.of(1), List.of(1), 2)).containsExactlyInAnyOrder(1, 4);
    }

    @Test
    void shouldMoveOnlyTheReplicaThatMayNotStay() {
        ReplicaPlan plan =
                new ReplicaPlan(List.of(BROKERS.get(0), BROKERS.get(1), broker(4, null)), List.of(List.of(1, 2, 3)));

        assertThat(plan.place(List.of(1, 2, 3), List.of(1, 2), List.of(1, 2, 3), 3))
                .containsExactlyInAnyOrder(1, 2, 4);
    }

    @Test
    void shouldGiveUpReplicasThatAreNotInSyncFirst() {
        ReplicaPlan plan = new ReplicaPlan(BROKERS, List.of(List.of(1, 2, 3)));

        assertThat(plan.place(List.of(1, 2, 3), List.of(1, 2, 3), List.of(1, 3), 2))
                .containsExactlyInAnyOrder(1, 3);
    }

    @Test
    void shouldGiveUpThePreferredLeaderWhenItIsNotInSync() {
        ReplicaPlan plan = new ReplicaPlan(BROKERS.subList(1, 3), List.of(List.of(1, 2, 3)));

        assertThat(plan.place(List.of(1, 2, 3), List.of(1, 2, 3), List.of(2, 3), 2))
                .containsExactlyInAnyOrder(2, 3);
        assertThat(plan.place(List.of(1, 2, 3), List.of(1, 2, 3), List.of(3), 1))
                .containsExactly(3);
        assertThat(plan.place(List.of(1, 2, 3), List.of(1, 2, 3), List.of(), 1)).containsExactly(1);
    }

    @Test
    void shouldChangeNothingWhenThePartitionIsWhereItShallBe() {
        List<Integer> before = new ArrayList<>(List.of(3, 1));
        ReplicaPlan plan = new ReplicaPlan(BROKERS, List.of(before));

        assertThat(plan.place(before, before, before, 2)).isSameAs(before);
    }
}
