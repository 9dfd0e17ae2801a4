package io.journalq.chaos.cluster;

import io.journalq.client.Admin;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * The brokers that belong to the cluster. Which ones these are changes when one is replaced. Clients begin at addresses
 * that always lead to the current members. The metadata name live brokers only, so that a client may know a single one,
 * and lose it. One thread changes the members.
 */
final class ClusterMembers {
    private static final int POLL_MS = 50;

    private final LocalCluster cluster;
    private final List<Integer> ids = new CopyOnWriteArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private int lastId;

    /** @param count number of brokers that have been started, with the ids from 1 on */
    ClusterMembers(LocalCluster cluster, NetworkProxies network, int count) throws IOException {
        this.cluster = cluster;
        for (lastId = 0; lastId < count; ) {
            int place = lastId;
            ids.add(++lastId);
            addresses.add("127.0.0.1:" + network.openName(() -> cluster.port(ids.get(place))));
        }
    }

    /** The addresses of all members, separated by commas. They stay the same when a member is replaced. */
    String addresses() {
        return String.join(",", addresses);
    }

    /** The ids of the brokers. */
    List<Integer> ids() {
        return List.copyOf(ids);
    }

    int draw(Random random) {
        return ids.get(random.nextInt(ids.size()));
    }

    /** A broker that has never been a member. It takes the place of a dead one in {@link #replace}. */
    int nextId() {
        return ++lastId;
    }

    /**
     * Gives the replicas of a dead broker to a running one that is new, and removes the dead one from the cluster, as
     * {@code journalq cluster drain} and {@code remove} do.
     *
     * @throws IOException if that is not done within {@code limitMs}
     */
    void replace(Admin admin, int dead, int successor, long limitMs) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
        ids.set(ids.indexOf(dead), successor);
        while (true) {
            String last;
            try {
                Map<TopicPartition, List<Integer>> targets = withSuccessor(admin, dead, successor);
                if (targets.isEmpty()) {
                    admin.unregisterBroker(dead);
                    cluster.forget(dead);
                    return;
                }
                targets.keySet().removeAll(admin.listPartitionReassignments().keySet());
                if (!targets.isEmpty()) {
                    admin.alterPartitionReassignments(targets);
                }
                last = targets.size() + " partitions have to move";
            } catch (RuntimeException notYet) {
                last = notYet.toString();
            }
            if (System.nanoTime() > endNanos) {
                throw new IOException("broker " + successor + " has not replaced broker " + dead + " after " + limitMs
                        + " ms: " + last);
            }
            Thread.sleep(POLL_MS);
        }
    }

    /** The replicas that partitions of the dead broker will have. */
    private static Map<TopicPartition, List<Integer>> withSuccessor(Admin admin, int dead, int successor) {
        List<String> topics =
                admin.listTopics().stream().map(TopicListing::name).toList();
        Map<TopicPartition, List<Integer>> targets = new HashMap<>();
        for (TopicDescription topic : admin.describeTopics(topics).values()) {
            topic.partitions().stream()
                    .filter(partition -> partition.replicas().contains(dead))
                    .forEach(partition -> targets.put(
                            new TopicPartition(topic.name(), partition.partition()),
                            partition.replicas().stream()
                                    .filter(id -> id != successor)
                                    .map(id -> id == dead ? successor : id)
                                    .toList()));
        }
        return targets;
    }
}
