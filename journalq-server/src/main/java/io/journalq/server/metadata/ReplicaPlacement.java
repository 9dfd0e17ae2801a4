package io.journalq.server.metadata;

import io.journalq.common.check.Check;
import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Places the replicas of partitions on brokers. The replicas of a partition are on as many racks as possible. Successive
 * partitions are led by successive brokers, in an order in which the racks take turns. The topic's id determines the
 * first one, so that topics with few partitions do not all begin with the same broker. The same arguments always give
 * the same placement. Stateless.
 */
final class ReplicaPlacement {
    private ReplicaPlacement() {}

    /**
     * Places partitions.
     *
     * @param brokers the brokers that may be used
     * @param firstPartition number of the first partition to place
     * @param partitionCount number of partitions to place
     * @param replicationFactor replicas of each partition, not more than there are brokers
     * @return the nodes of each partition, the preferred leader first
     */
    static List<List<Integer>> place(
            Collection<BrokerImage> brokers,
            Uuid topicId,
            int firstPartition,
            int partitionCount,
            int replicationFactor) {
        Check.that(replicationFactor >= 1 && replicationFactor <= brokers.size(), "replicas are on different brokers");
        List<BrokerImage> order = alternatingRacks(brokers);
        long seed = mixed(topicId.mostSignificantBits() + 31 * topicId.leastSignificantBits());
        List<List<Integer>> placed = new ArrayList<>(partitionCount);
        for (int number = firstPartition; number < firstPartition + partitionCount; number++) {
            int leader = Math.floorMod(seed + number, order.size());
            long round = mixed(seed) + number / order.size();
            placed.add(replicas(order, leader, round, replicationFactor));
        }
        return placed;
    }

    /** The brokers, so that neighbours are in different racks as long as there are several racks with brokers left. */
    private static List<BrokerImage> alternatingRacks(Collection<BrokerImage> brokers) {
        Map<String, List<BrokerImage>> byRack = new TreeMap<>();
        for (BrokerImage broker : brokers) {
            byRack.computeIfAbsent(broker.rack(), rack -> new ArrayList<>()).add(broker);
        }
        List<BrokerImage> order = new ArrayList<>(brokers.size());
        for (int turn = 0; order.size() < brokers.size(); turn++) {
            for (List<BrokerImage> inRack : byRack.values()) {
                if (turn < inRack.size()) {
                    order.add(inRack.get(turn));
                }
            }
        }
        return order;
    }

    /**
     * Chooses the nodes of a partition. The followers come from the racks with the fewest replicas. Among these, the
     * search begins behind the leader, and in each round of leaders one position further, so that each broker follows
     * all others.
     */
    private static List<Integer> replicas(List<BrokerImage> order, int leader, long round, int replicationFactor) {
        List<Integer> chosen = new ArrayList<>(replicationFactor);
        Map<String, Integer> inRack = new TreeMap<>();
        BrokerImage next = order.get(leader);
        while (true) {
            chosen.add(next.nodeId());
            inRack.merge(next.rack(), 1, Integer::sum);
            if (chosen.size() == replicationFactor) {
                return chosen;
            }
            next = null;
            int others = order.size() - 1;
            for (int step = 0; step < others; step++) {
                int distance = 1 + Math.floorMod(round + step, others);
                BrokerImage candidate = order.get((leader + distance) % order.size());
                if (!chosen.contains(candidate.nodeId())
                        && (next == null
                                || inRack.getOrDefault(candidate.rack(), 0) < inRack.getOrDefault(next.rack(), 0))) {
                    next = candidate;
                }
            }
        }
    }

    /** Spreads similar values over the whole range (the finalizer of SplitMix64). */
    private static long mixed(long value) {
        long bits = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
        return bits ^ (bits >>> 31);
    }
}
