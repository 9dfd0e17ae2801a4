package io.journalq.cli.cluster;

import io.journalq.client.admin.BrokerNode;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chooses brokers for replicas. As many replicas as possible stay where they are. Others go to racks that the partition
 * does not use yet, and to the brokers with the fewest replicas. If the brokers of a partition change, the one that is
 * preferred least often becomes the preferred leader. Equal clusters give equal plans. One thread.
 */
final class ReplicaPlan {
    private final Map<Integer, BrokerNode> usable = new TreeMap<>();
    private final Map<Integer, Integer> replicas = new TreeMap<>();
    private final Map<Integer, Integer> preferred = new TreeMap<>();

    /**
     * A partition that moves.
     *
     * @param from its replicas before, the preferred leader first
     * @param to its replicas afterwards
     * @param copiedBytes what has to be copied, in bytes
     */
    record Move(TopicPartition partition, List<Integer> from, List<Integer> to, long copiedBytes) {
        Move {
            from = List.copyOf(from);
            to = List.copyOf(to);
        }
    }

    /**
     * Begins with the cluster as it is.
     *
     * @param brokers those that may get replicas
     * @param placed the replicas of all partitions
     */
    ReplicaPlan(Collection<BrokerNode> brokers, Collection<List<Integer>> placed) {
        brokers.forEach(broker -> usable.put(broker.id(), broker));
        placed.forEach(nodes -> count(nodes, 1));
    }

    private void count(List<Integer> nodes, int change) {
        nodes.forEach(node -> replicas.merge(node, change, Integer::sum));
        if (!nodes.isEmpty()) {
            preferred.merge(nodes.get(0), change, Integer::sum);
        }
    }

    /**
     * The brokers of a partition in the end, the preferred leader first.
     *
     * @param before its brokers now, the preferred leader first
     * @param keep those of them that may keep their replicas
     * @param inSync those that have all acknowledged records; if there are too many replicas, these stay
     * @param factor number of replicas in the end, at most the number of brokers that may get replicas
     */
    List<Integer> place(List<Integer> before, Collection<Integer> keep, Collection<Integer> inSync, int factor) {
        List<Integer> after =
                new ArrayList<>(before.stream().filter(keep::contains).toList());
        while (after.size() > factor) {
            Integer leader = after.get(0);
            after.remove(after.stream()
                    .max(Comparator.<Integer>comparingInt(node -> inSync.contains(node) ? 0 : 1)
                            .thenComparingInt(node -> node.equals(leader) ? 0 : 1)
                            .thenComparingInt(node -> replicas.getOrDefault(node, 0))
                            .thenComparing(Comparator.naturalOrder()))
                    .orElseThrow());
        }
        while (after.size() < factor) {
            after.add(usable.keySet().stream()
                    .filter(node -> !after.contains(node))
                    .min(Comparator.<Integer>comparingLong(node -> sameRack(after, node))
                            .thenComparingInt(node -> replicas.getOrDefault(node, 0))
                            .thenComparing(Comparator.naturalOrder()))
                    .orElseThrow());
        }
        if (after.size() == before.size() && before.containsAll(after)) {
            return before;
        }
        count(before, -1);
        Integer first = after.stream()
                .min(Comparator.comparingInt(node -> preferred.getOrDefault(node, 0)))
                .orElseThrow();
        after.remove(first);
        after.add(0, first);
        count(after, 1);
        return after;
    }

    private long sameRack(List<Integer> nodes, int candidate) {
        String rack = usable.get(candidate).rack();
        return rack == null
                ? 0
                : nodes.stream()
                        .map(usable::get)
                        .filter(node -> node != null && rack.equals(node.rack()))
                        .count();
    }
}
