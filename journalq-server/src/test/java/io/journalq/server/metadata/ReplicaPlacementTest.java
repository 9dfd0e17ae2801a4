package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplicaPlacementTest {
    private static final int MAX_BROKERS = 10;
    private static final Uuid ID = new Uuid(3, 5);

    /** Brokers with ids from 100 on. Broker i is in rack i modulo {@code racks}; without racks if that is 0. */
    private static List<BrokerImage> brokers(int count, int racks) {
        return IntStream.range(0, count)
                .mapToObj(i -> TestBrokers.image(100 + i, racks == 0 ? "" : "rack-" + i % racks))
                .toList();
    }

    private static String rackOf(List<BrokerImage> brokers, int nodeId) {
        return brokers.get(nodeId - 100).rack();
    }

    private static Map<String, Integer> replicasPerRack(List<BrokerImage> brokers, List<Integer> replicas) {
        Map<String, Integer> perRack = new TreeMap<>();
        replicas.forEach(node -> perRack.merge(rackOf(brokers, node), 1, Integer::sum));
        return perRack;
    }

    private static Map<Integer, Integer> count(List<Integer> nodes) {
        Map<Integer, Integer> counts = new TreeMap<>();
        nodes.forEach(node -> counts.merge(node, 1, Integer::sum));
        return counts;
    }

    @Test
    void shouldUseDifferentBrokersForEachPartition() {
        for (int count = 1; count <= MAX_BROKERS; count++) {
            for (int factor = 1; factor <= count; factor++) {
                for (List<Integer> replicas : ReplicaPlacement.place(brokers(count, 3), ID, 0, 50, factor)) {
                    assertThat(replicas).hasSize(factor).doesNotHaveDuplicates();
                }
            }
        }
    }

    @Test
    void shouldUseAsManyRacksAsPossible() {
        for (int count = 1; count <= MAX_BROKERS; count++) {
            for (int racks = 1; racks <= count; racks++) {
                List<BrokerImage> brokers = brokers(count, racks);
                for (int factor = 1; factor <= count; factor++) {
                    for (List<Integer> replicas : ReplicaPlacement.place(brokers, ID, 0, 50, factor)) {
                        Map<String, Integer> perRack = replicasPerRack(brokers, replicas);
                        assertThat(perRack).hasSize(Math.min(factor, racks));
                        // No rack has two replicas more than a rack that could take one.
                        int most =
                                perRack.values().stream().max(Integer::compare).orElseThrow();
                        for (BrokerImage unused : brokers) {
                            if (!replicas.contains(unused.nodeId())) {
                                assertThat(most - perRack.getOrDefault(unused.rack(), 0))
                                        .as("%d brokers, %d racks, factor %d: %s", count, racks, factor, replicas)
                                        .isLessThanOrEqualTo(1);
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldLeadEquallyManyPartitionsOnEachBroker() {
        for (int count = 1; count <= MAX_BROKERS; count++) {
            for (int racks = 0; racks <= count; racks++) {
                List<Integer> leaders = ReplicaPlacement.place(brokers(count, racks), ID, 0, 7 * count, 1).stream()
                        .map(replicas -> replicas.get(0))
                        .toList();
                assertThat(count(leaders)).hasSize(count).allSatisfy((node, leads) -> assertThat(leads)
                        .isEqualTo(7));
            }
        }
    }

    @Test
    void shouldHoldEquallyManyReplicasOnEachBrokerWhenTheRacksAreEqual() {
        for (int count = 2; count <= MAX_BROKERS; count++) {
            for (int racks = 1; racks <= count; racks++) {
                for (int factor = 2; factor <= count && count % racks == 0; factor++) {
                    List<Integer> nodes =
                            ReplicaPlacement.place(brokers(count, racks), ID, 0, 4 * count, factor).stream()
                                    .flatMap(List::stream)
                                    .toList();
                    int expected = 4 * factor;
                    assertThat(count(nodes)).hasSize(count).allSatisfy((node, replicas) -> assertThat(replicas)
                            .isEqualTo(expected));
                }
            }
        }
    }

    @Test
    void shouldFollowEveryOtherLeaderWhenThereAreManyPartitions() {
        int count = 6;
        List<List<Integer>> placed = ReplicaPlacement.place(brokers(count, 0), ID, 0, count * (count - 1), 2);

        assertThat(placed).as("each pair of a leader and a follower once").doesNotHaveDuplicates();
    }

    @Test
    void shouldBeginWithDifferentBrokersWhenTheTopicsDiffer() {
        List<Integer> leaders = new ArrayList<>();
        for (int topic = 0; topic < 1_000; topic++) {
            leaders.add(ReplicaPlacement.place(brokers(10, 5), new Uuid(1, topic), 0, 1, 3)
                    .get(0)
                    .get(0));
        }

        assertThat(count(leaders)).hasSize(10).allSatisfy((node, leads) -> assertThat(leads)
                .isBetween(60, 140));
    }

    @Test
    void shouldContinueWhenPartitionsAreAdded() {
        List<BrokerImage> brokers = brokers(7, 3);
        List<List<Integer>> together = ReplicaPlacement.place(brokers, ID, 0, 20, 3);
        List<List<Integer>> oneByOne = new ArrayList<>(ReplicaPlacement.place(brokers, ID, 0, 8, 3));
        oneByOne.addAll(ReplicaPlacement.place(brokers, ID, 8, 12, 3));

        assertThat(oneByOne).isEqualTo(together);
    }

    @Test
    void shouldSpreadOverRacksOfDifferentSizes() {
        // given one broker in a small rack, and four in a large one
        List<BrokerImage> brokers = IntStream.range(0, 5)
                .mapToObj(i -> TestBrokers.image(100 + i, i == 0 ? "small" : "large"))
                .toList();

        for (List<Integer> replicas : ReplicaPlacement.place(brokers, ID, 0, 40, 2)) {
            assertThat(replicas).as("one replica in the small rack").contains(100);
        }
    }

    @Test
    void shouldNotPlaceMoreReplicasThanThereAreBrokers() {
        assertThatThrownBy(() -> ReplicaPlacement.place(brokers(2, 0), ID, 0, 1, 3))
                .hasMessageContaining("different brokers");
    }
}
