package io.journalq.cli.cluster;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.PartitionReassignment;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the cluster looks like now. Immutable.
 *
 * @param cluster its brokers
 * @param topics all topics, by name
 * @param moving the partitions that move
 * @param logDirs the data directories of the brokers that are live
 */
record ClusterState(
        ClusterDescription cluster,
        Map<String, TopicDescription> topics,
        Map<TopicPartition, PartitionReassignment> moving,
        List<LogDirDescription> logDirs) {

    static ClusterState of(Admin admin) {
        List<String> names = admin.listTopics().stream().map(TopicListing::name).toList();
        return new ClusterState(
                admin.describeCluster(),
                admin.describeTopics(names),
                admin.listPartitionReassignments(),
                admin.describeLogDirs());
    }

    /** The brokers that serve clients. */
    List<BrokerNode> live() {
        return cluster.brokers().stream().filter(broker -> !broker.fenced()).toList();
    }

    /** Fails if there is no broker with this id. */
    BrokerNode broker(int id) {
        return cluster.brokers().stream()
                .filter(broker -> broker.id() == id)
                .findFirst()
                .orElseThrow(() -> new CommandFailure("there is no broker " + id + " in the cluster; its brokers are "
                        + ids(cluster.brokers().stream().map(BrokerNode::id).toList())));
    }

    /** All partitions of all topics. */
    Map<TopicPartition, PartitionDescription> partitions() {
        return partitions(topics.keySet());
    }

    private Map<TopicPartition, PartitionDescription> partitions(Collection<String> names) {
        Map<TopicPartition, PartitionDescription> all = new LinkedHashMap<>();
        for (String name : names) {
            topics.get(name)
                    .partitions()
                    .forEach(partition -> all.put(new TopicPartition(name, partition.partition()), partition));
        }
        return all;
    }

    /**
     * The partitions that a command selects.
     *
     * @param words topics, or parts of topics such as {@code orders:0,5}; none for the partitions of all topics
     */
    Map<TopicPartition, PartitionDescription> selected(List<String> words) {
        if (words.isEmpty()) {
            return partitions();
        }
        Map<TopicPartition, PartitionDescription> selected = new LinkedHashMap<>();
        for (String word : words) {
            int colon = word.indexOf(':');
            String name = colon < 0 ? word : word.substring(0, colon);
            if (!topics.containsKey(name)) {
                throw new CommandFailure(
                        "there is no topic " + name + "; to list all topics, run journalq topics list");
            }
            Map<TopicPartition, PartitionDescription> ofTopic = partitions(Set.of(name));
            Set<TopicPartition> wanted = colon < 0 ? ofTopic.keySet() : numbers(name, word.substring(colon + 1));
            for (TopicPartition partition : wanted) {
                if (!ofTopic.containsKey(partition)) {
                    throw new CommandFailure("topic " + name + " has no partition " + partition.partition()
                            + "; it has 0 to " + (ofTopic.size() - 1));
                }
                selected.put(partition, ofTopic.get(partition));
            }
        }
        return selected;
    }

    private static Set<TopicPartition> numbers(String topic, String list) {
        Set<TopicPartition> partitions = new LinkedHashSet<>();
        for (String number : list.split(",", -1)) {
            if (!number.matches("\\d{1,9}")) {
                throw new CommandFailure("'" + topic + ":" + list + "' is not of the form TOPIC or TOPIC:0,5");
            }
            partitions.add(new TopicPartition(topic, Integer.parseInt(number)));
        }
        return partitions;
    }

    boolean isInternal(String topic) {
        return topics.get(topic).internal();
    }

    /** The brokers that have the replicas when a reassignment in progress has ended. */
    List<Integer> target(TopicPartition partition, PartitionDescription description) {
        PartitionReassignment reassignment = moving.get(partition);
        return reassignment == null
                ? description.replicas()
                : reassignment.replicas().stream()
                        .filter(id -> !reassignment.removing().contains(id))
                        .toList();
    }

    /** The size of the largest replica of a partition, in bytes. */
    long sizeBytes(TopicPartition partition) {
        return logDirs.stream()
                .mapToLong(dir -> dir.partitionSizesBytes().getOrDefault(partition, 0L))
                .max()
                .orElse(0);
    }

    static String ids(Collection<Integer> ids) {
        List<String> words = new ArrayList<>();
        ids.forEach(id -> words.add(id.toString()));
        return String.join(",", words);
    }
}
