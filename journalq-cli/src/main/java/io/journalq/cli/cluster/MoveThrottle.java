package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.unit.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Limits the rate at which moves copy, with the settings of KIP-73 that Kafka's tools set, too. Replicas that are in sync
 * are never held back.
 */
final class MoveThrottle {
    private static final String LEADER_RATE = "leader.replication.throttled.rate";
    private static final String FOLLOWER_RATE = "follower.replication.throttled.rate";
    private static final String LEADERS = "leader.replication.throttled.replicas";
    private static final String FOLLOWERS = "follower.replication.throttled.replicas";
    private static final String PER_SECOND = "/s";
    private static final String ALL = "*";

    /** The command that removes all throttles. */
    static final String REMOVAL = "journalq cluster reassign --unthrottle --execute";

    private final Admin admin;
    private final Terminal terminal;

    MoveThrottle(Admin admin, Terminal terminal) {
        this.admin = admin;
        this.terminal = terminal;
    }

    /**
     * Parses a rate such as {@code 50MiB/s}.
     *
     * @return bytes per second
     * @throws IllegalArgumentException if the text is not a rate above 0; the message describes the form
     */
    static long parse(String text) {
        String size = text.endsWith(PER_SECOND) ? text.substring(0, text.length() - PER_SECOND.length()) : text;
        long bytesPerSecond;
        try {
            bytesPerSecond = Units.parseSizeBytes(size.strip());
        } catch (IllegalArgumentException malformed) {
            bytesPerSecond = 0;
        }
        if (bytesPerSecond == 0) {
            throw new IllegalArgumentException("'" + text + "' is not a rate; use a size per second, such as 50MiB/s");
        }
        return bytesPerSecond;
    }

    /**
     * Limits the rate at which each broker sends and fetches the partitions that move.
     *
     * @param state the cluster before the moves
     */
    void begin(ClusterState state, List<Move> moves, long bytesPerSecond) {
        // First: if one of the changes fails, those before it stay.
        terminal.tell("each broker copies at most " + Quantity.size(bytesPerSecond)
                + "/s for these moves. If this command is interrupted, run " + REMOVAL);
        Map<String, Collection<String>> leaders = new LinkedHashMap<>();
        Map<String, Collection<String>> followers = new LinkedHashMap<>();
        for (Move move : moves) {
            String topic = move.partition().topic();
            int partition = move.partition().partition();
            List<Integer> replicas = state.partitions().get(move.partition()).replicas();
            for (int id : replicas) {
                leaders.computeIfAbsent(topic, none -> new TreeSet<>()).add(partition + ":" + id);
            }
            for (int id : move.to()) {
                if (!replicas.contains(id)) {
                    followers.computeIfAbsent(topic, none -> new TreeSet<>()).add(partition + ":" + id);
                }
            }
        }
        // The replicas first: a rate without replicas limits nothing.
        followers.forEach((topic, ofTopic) -> setReplicas(topic, leaders.get(topic), ofTopic));
        for (BrokerNode broker : live()) {
            String rate = Long.toString(bytesPerSecond);
            admin.alterConfigs(
                    ConfigResource.broker(broker.id()),
                    List.of(ConfigChange.set(LEADER_RATE, rate), ConfigChange.set(FOLLOWER_RATE, rate)));
        }
    }

    /** Only these can change their settings. A broker that is down does not copy. */
    private List<BrokerNode> live() {
        return admin.describeCluster().brokers().stream()
                .filter(broker -> !broker.fenced())
                .toList();
    }

    private void setReplicas(String topic, Collection<String> leaders, Collection<String> followers) {
        ConfigResource resource = ConfigResource.topic(topic);
        List<ConfigEntry> before = admin.describeConfigs(List.of(resource)).get(resource);
        List<ConfigChange> changes = new ArrayList<>();
        changes.add(ConfigChange.set(LEADERS, joined(before, LEADERS, leaders)));
        changes.add(ConfigChange.set(FOLLOWERS, joined(before, FOLLOWERS, followers)));
        admin.alterConfigs(resource, changes);
    }

    /** With the replicas of moves that are not done. */
    private static String joined(List<ConfigEntry> before, String name, Collection<String> added) {
        TreeSet<String> all = new TreeSet<>(added);
        before.stream()
                .filter(entry -> entry.name().equals(name) && entry.value() != null)
                .forEach(entry -> all.addAll(Arrays.stream(entry.value().split(","))
                        .map(String::strip)
                        .filter(item -> !item.isEmpty())
                        .toList()));
        return all.contains(ALL) ? ALL : String.join(",", all);
    }

    /** Removes the throttle when the moves of some partitions have ended. It stays if others move. */
    void end(Collection<TopicPartition> ended) {
        Set<TopicPartition> moving =
                new HashSet<>(admin.listPartitionReassignments().keySet());
        // The broker that was asked may not know yet that these have ended.
        moving.removeAll(ended);
        if (!moving.isEmpty()) {
            terminal.tell("throttles stay, because other partitions move (" + moving.size() + "); to remove them, run "
                    + REMOVAL);
            return;
        }
        remove(ended.stream().map(TopicPartition::topic).distinct().toList());
    }

    /**
     * What was removed.
     *
     * @param topics the number of topics that had a throttle
     * @param down the brokers whose rates remain, because they are down. These limit nothing without replicas
     */
    record Removed(int topics, List<Integer> down) {}

    /** Removes the throttles of all brokers that are live, and of some topics. */
    Removed remove(Collection<String> topics) {
        List<ConfigResource> throttled = throttled(topics);
        List<ConfigChange> replicas = List.of(ConfigChange.delete(LEADERS), ConfigChange.delete(FOLLOWERS));
        throttled.forEach(topic -> admin.alterConfigs(topic, replicas));
        List<ConfigChange> rates = List.of(ConfigChange.delete(LEADER_RATE), ConfigChange.delete(FOLLOWER_RATE));
        List<Integer> down = new ArrayList<>();
        for (BrokerNode broker : admin.describeCluster().brokers()) {
            if (broker.fenced()) {
                down.add(broker.id());
            } else {
                admin.alterConfigs(ConfigResource.broker(broker.id()), rates);
            }
        }
        return new Removed(throttled.size(), down);
    }

    private List<ConfigResource> throttled(Collection<String> topics) {
        List<ConfigResource> throttled = new ArrayList<>();
        admin.describeConfigs(topics.stream().map(ConfigResource::topic).toList())
                .forEach((topic, entries) -> {
                    if (entries.stream()
                            .anyMatch(entry -> entry.source() == ConfigEntry.Source.DYNAMIC_TOPIC_CONFIG
                                    && (entry.name().equals(LEADERS)
                                            || entry.name().equals(FOLLOWERS)))) {
                        throttled.add(topic);
                    }
                });
        return throttled;
    }
}
