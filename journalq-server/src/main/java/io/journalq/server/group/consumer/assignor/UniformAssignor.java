package io.journalq.server.group.consumer.assignor;

import io.journalq.common.id.Uuid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Balances the number of partitions of members as far as their subscriptions allow, with as few moves as possible.
 *
 * <p>First, every member keeps its partitions. Then each partition without an owner is assigned to the subscriber with
 * the fewest partitions. Then partitions move from a member to a subscriber that has at least two fewer, until there is
 * no such pair. A move reduces the sum of the squares of all loads, so the loop terminates. If all members subscribe to
 * the same topics, loads then differ by one at most, and no assignment with equal balance moves fewer partitions.
 *
 * <p>Topics with the same subscribers form a {@link Pool}, in which partitions are interchangeable. With equal
 * subscriptions there is one pool, and the run time is proportional to the number of partitions.
 */
public final class UniformAssignor implements Assignor {
    public static final String NAME = "uniform";

    @Override
    public String assignorName() {
        return NAME;
    }

    @Override
    public SortedMap<String, Assignment> assign(List<Subscriber> members, Map<Uuid, Integer> partitionCountByTopic) {
        int[] loads = new int[members.size()];
        List<Pool> pools = pools(members, partitionCountByTopic, loads);
        for (Pool pool : pools) {
            pool.placeUnowned();
        }
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Pool pool : pools) {
                moved |= pool.level();
            }
        }
        return collect(members, pools);
    }

    private static List<Pool> pools(List<Subscriber> members, Map<Uuid, Integer> partitionCountByTopic, int[] loads) {
        SortedMap<Uuid, List<Integer>> subscribersByTopic = new TreeMap<>();
        for (int member = 0; member < members.size(); member++) {
            for (Uuid topicId : members.get(member).topicIds()) {
                subscribersByTopic
                        .computeIfAbsent(topicId, id -> new ArrayList<>())
                        .add(member);
            }
        }
        SortedMap<List<Integer>, Pool> poolBySubscribers = new TreeMap<>(UniformAssignor::compare);
        subscribersByTopic.forEach((topicId, subscribers) -> poolBySubscribers
                .computeIfAbsent(subscribers, same -> new Pool(same, loads))
                .addTopic(topicId, partitionCountByTopic.getOrDefault(topicId, 0), members));
        return new ArrayList<>(poolBySubscribers.values());
    }

    /** Pools with few subscribers come first, because they have the least choice. */
    private static int compare(List<Integer> left, List<Integer> right) {
        int bySize = Integer.compare(left.size(), right.size());
        for (int i = 0; bySize == 0 && i < left.size(); i++) {
            bySize = Integer.compare(left.get(i), right.get(i));
        }
        return bySize;
    }

    private static SortedMap<String, Assignment> collect(List<Subscriber> members, List<Pool> pools) {
        Assignment.Builder[] builders = new Assignment.Builder[members.size()];
        for (int member = 0; member < builders.length; member++) {
            builders[member] = new Assignment.Builder();
        }
        for (Pool pool : pools) {
            pool.owned.forEach((member, partitions) ->
                    partitions.forEach(partition -> builders[member].add(partition.topicId(), partition.number())));
        }
        SortedMap<String, Assignment> targets = new TreeMap<>();
        for (int member = 0; member < builders.length; member++) {
            targets.put(members.get(member).memberId(), builders[member].build());
        }
        return targets;
    }

    private record Partition(Uuid topicId, int number) {}

    /** The partitions of all topics that have the same subscribers, and their owners. */
    private static final class Pool {
        private final List<Integer> subscribers;
        /** The load of every member, over all pools. */
        private final int[] loads;

        private final SortedMap<Integer, Deque<Partition>> owned = new TreeMap<>();
        private final List<Partition> unowned = new ArrayList<>();

        Pool(List<Integer> subscribers, int[] loads) {
            this.subscribers = subscribers;
            this.loads = loads;
        }

        void addTopic(Uuid topicId, int partitionCount, List<Subscriber> members) {
            boolean[] taken = new boolean[partitionCount];
            for (int member : subscribers) {
                for (int partition : members.get(member).target().partitions(topicId)) {
                    // A previous target may contain deleted partitions or, after a crash between two records, another
                    // member's.
                    if (partition < partitionCount && !taken[partition]) {
                        taken[partition] = true;
                        give(member, new Partition(topicId, partition));
                    }
                }
            }
            for (int partition = 0; partition < partitionCount; partition++) {
                if (!taken[partition]) {
                    unowned.add(new Partition(topicId, partition));
                }
            }
        }

        void placeUnowned() {
            if (unowned.isEmpty()) {
                return;
            }
            PriorityQueue<Integer> fewestFirst = new PriorityQueue<>(subscribers.size(), this::byLoad);
            fewestFirst.addAll(subscribers);
            for (Partition partition : unowned) {
                int member = fewestFirst.remove();
                give(member, partition);
                fewestFirst.add(member);
            }
            unowned.clear();
        }

        /** Moves partitions until loads within this pool differ by one at most, as far as moves can achieve that. */
        boolean level() {
            if (owned.isEmpty() || isLevel()) {
                return false;
            }
            PriorityQueue<Integer> fewestFirst = new PriorityQueue<>(subscribers.size(), this::byLoad);
            PriorityQueue<Integer> mostFirst =
                    new PriorityQueue<>(owned.size(), (left, right) -> Integer.compare(loads[right], loads[left]));
            fewestFirst.addAll(subscribers);
            owned.forEach((member, partitions) -> {
                if (!partitions.isEmpty()) {
                    mostFirst.add(member);
                }
            });
            boolean moved = false;
            // A member's load decreases only while it is the first giver, and increases only while it is the first
            // taker. A giver never becomes a taker, because all takers end below all givers. So both orders stay valid.
            while (!mostFirst.isEmpty()) {
                int from = mostFirst.remove();
                int to = fewestFirst.remove();
                if (loads[from] - loads[to] < 2) {
                    return moved;
                }
                move(from, to);
                moved = true;
                fewestFirst.add(to);
                if (!owned.get(from).isEmpty()) {
                    mostFirst.add(from);
                }
            }
            return moved;
        }

        private boolean isLevel() {
            int fewest = Integer.MAX_VALUE;
            for (int member : subscribers) {
                fewest = Math.min(fewest, loads[member]);
            }
            for (Map.Entry<Integer, Deque<Partition>> entry : owned.entrySet()) {
                if (!entry.getValue().isEmpty() && loads[entry.getKey()] - fewest >= 2) {
                    return false;
                }
            }
            return true;
        }

        private void move(int from, int to) {
            Partition partition = owned.get(from).removeLast();
            loads[from]--;
            give(to, partition);
        }

        private void give(int member, Partition partition) {
            owned.computeIfAbsent(member, none -> new ArrayDeque<>()).addLast(partition);
            loads[member]++;
        }

        private int byLoad(int left, int right) {
            int byLoad = Integer.compare(loads[left], loads[right]);
            return byLoad != 0 ? byLoad : Integer.compare(left, right);
        }
    }
}
