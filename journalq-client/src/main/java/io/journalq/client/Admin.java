package io.journalq.client;

import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.GroupListing;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.client.admin.TransactionDescription;
import io.journalq.client.admin.TransactionListing;
import io.journalq.client.coordinator.GroupCalls;
import io.journalq.client.coordinator.TransactionCalls;
import io.journalq.client.fetch.OffsetLookup;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.network.ClientConfig;
import io.journalq.client.network.ClientCore;
import io.journalq.client.network.Cluster;
import io.journalq.common.id.TopicPartition;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks at a cluster and changes it: topics, configs, offsets, groups, transactions. Thread-safe; every call waits for its answer, tries
 * retriable errors again within the call time-out, and throws a {@link JournalQException} when it cannot be had.
 *
 * <pre>{@code
 * try (Admin admin = Admin.builder().bootstrapServers("localhost:9092").build()) {
 *     admin.createTopic(NewTopic.of("orders", 200));
 *     admin.listTopics().forEach(System.out::println);
 * }
 * }</pre>
 */
public final class Admin implements AutoCloseable {
    private final ClientCore core;
    private final TopicCalls topics;
    private final ConfigCalls configs;
    private final ClusterCalls clusterCalls;
    private final GroupCalls groups;
    private final TransactionCalls transactions;
    private final OffsetLookup offsets;

    private Admin(ClientConfig config) {
        this.core = new ClientCore(config, new Cluster.Listener() {});
        this.topics = new TopicCalls(core.calls(), config.requestTimeoutMs());
        this.configs = new ConfigCalls(core.calls());
        this.clusterCalls = new ClusterCalls(core.cluster(), core.calls());
        this.groups = new GroupCalls(core.cluster(), core.calls());
        this.transactions = new TransactionCalls(core.cluster(), core.calls());
        this.offsets = new OffsetLookup(core.cluster(), core.calls());
    }

    /** Starts an admin with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Creates one topic. Returns when the broker that answered knows it. */
    public void createTopic(NewTopic topic) {
        createTopics(List.of(topic));
    }

    /** Creates topics; throws the first error, after all have been tried. */
    public void createTopics(Collection<NewTopic> newTopics) {
        topics.create(newTopics);
    }

    /** Deletes topics and all their records; throws the first error, after all have been tried. */
    public void deleteTopics(Collection<String> names) {
        topics.delete(names);
    }

    /** Every topic, by name. */
    public List<TopicListing> listTopics() {
        return topics.list();
    }

    /** These topics with their partitions, in the order asked for; throws when one does not exist. */
    public Map<String, TopicDescription> describeTopics(Collection<String> names) {
        return topics.describe(names);
    }

    /** Raises a topic's number of partitions. Keys hash to other partitions afterwards. */
    public void createPartitions(String topic, int totalCount) {
        topics.createPartitions(topic, totalCount);
    }

    /** Every config in force for each resource, by name. */
    public Map<ConfigResource, List<ConfigEntry>> describeConfigs(Collection<ConfigResource> resources) {
        return configs.describe(resources);
    }

    /** Changes some configs of one resource and leaves the others. */
    public void alterConfigs(ConfigResource resource, Collection<ConfigChange> changes) {
        configs.alter(resource, changes);
    }

    /** One offset of each partition. */
    public Map<TopicPartition, ListedOffset> listOffsets(Map<TopicPartition, OffsetSpec> specs) {
        Map<TopicPartition, Long> timestampsMs = new LinkedHashMap<>();
        specs.forEach((partition, spec) -> timestampsMs.put(partition, spec.timestampMs()));
        return offsets.offsets(timestampsMs);
    }

    /**
     * Deletes the records before an offset in each partition.
     *
     * @param beforeOffsets -1 for all
     * @return each partition's first offset afterwards
     */
    public Map<TopicPartition, Long> deleteRecords(Map<TopicPartition, Long> beforeOffsets) {
        return clusterCalls.deleteRecords(beforeOffsets);
    }

    /** The brokers and who controls them. */
    public ClusterDescription describeCluster() {
        return clusterCalls.describe();
    }

    /** The data directories of every broker, with the size of each partition there. */
    public List<LogDirDescription> describeLogDirs() {
        return clusterCalls.logDirs();
    }

    /** Every group that the cluster knows, by name: of consumers, and others. */
    public List<GroupListing> listGroups() {
        return groups.list(clusterCalls.reachableBrokers());
    }

    /**
     * One group and its members, of either protocol.
     *
     * @throws io.journalq.client.error.UnknownGroupException when there is no such group
     */
    public GroupDescription describeGroup(String groupId) {
        return groups.describe(groupId);
    }

    /** Where a group goes on in each partition that it committed; empty when there is no such group. */
    public Map<TopicPartition, CommittedOffset> listGroupOffsets(String groupId) {
        return groups.offsets(groupId);
    }

    /**
     * Moves the offsets from which a group goes on; a group that does not exist is made. What is not named stays.
     *
     * <pre>{@code
     * admin.alterGroupOffsets("billing", Map.of(new TopicPartition("orders", 0), CommittedOffset.of(1_500)));
     * }</pre>
     *
     * @throws io.journalq.client.error.GroupNotEmptyException when it has members: they would go on from where they are
     */
    public void alterGroupOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        groups.alterOffsets(groupId, offsets);
    }

    /**
     * Forgets a group's offsets in some partitions.
     *
     * @throws io.journalq.client.error.GroupNotEmptyException when a member is subscribed to one of the topics
     * @throws io.journalq.client.error.UnknownGroupException when there is no such group
     */
    public void deleteGroupOffsets(String groupId, Collection<TopicPartition> partitions) {
        groups.deleteOffsets(groupId, partitions);
    }

    /**
     * Forgets a group and all its offsets.
     *
     * @throws io.journalq.client.error.GroupNotEmptyException when it has members
     * @throws io.journalq.client.error.UnknownGroupException when there is no such group
     */
    public void deleteGroup(String groupId) {
        groups.delete(groupId);
    }

    /** Every transactional id that the cluster knows, by name. */
    public List<TransactionListing> listTransactions() {
        return transactions.list(clusterCalls.reachableBrokers());
    }

    /**
     * One transactional id and the transaction that it has open.
     *
     * @throws io.journalq.client.error.UnknownTransactionalIdException when nobody knows it
     */
    public TransactionDescription describeTransaction(String transactionalId) {
        return transactions.describe(transactionalId);
    }

    /**
     * Aborts an open transaction: its producer is fenced, and what it sends from then on is refused. Returns when
     * consumers that read committed records get beyond it.
     *
     * @param open as {@link #describeTransaction} found it
     */
    public void abortTransaction(TransactionDescription open) {
        transactions.abort(open);
    }

    /** Closes the connections. */
    @Override
    public void close() {
        core.close();
    }

    /** Settings of an admin. Not thread-safe. */
    public static final class Builder extends ClientBuilder<Builder> {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /** Connects at the first call; this only starts the admin. */
        public Admin build() {
            return new Admin(clientConfig());
        }
    }
}
