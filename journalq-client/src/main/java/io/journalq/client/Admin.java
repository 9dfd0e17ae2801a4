package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.noNulls;
import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.GroupListing;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.PartitionReassignment;
import io.journalq.client.admin.QuorumDescription;
import io.journalq.client.admin.ReplicaCheck;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.client.admin.TransactionDescription;
import io.journalq.client.admin.TransactionListing;
import io.journalq.client.admin.UserDescription;
import io.journalq.client.error.JournalQException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.internal.admin.AclCalls;
import io.journalq.client.internal.admin.ClusterCalls;
import io.journalq.client.internal.admin.ConfigCalls;
import io.journalq.client.internal.admin.GroupCalls;
import io.journalq.client.internal.admin.PartitionCalls;
import io.journalq.client.internal.admin.TopicCalls;
import io.journalq.client.internal.admin.TransactionCalls;
import io.journalq.client.internal.fetch.OffsetLookup;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.ClientCore;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Manages a cluster: topics, configurations, offsets, groups, transactions and access control lists.
 *
 * <p>Thread-safe. Every call blocks until the response arrives; {@link #async()} makes calls that do not block. Retriable errors are retried until {@link
 * Builder#callTimeout} has passed. A call that fails throws a {@link JournalQException}. After {@link #close()}, every
 * call throws {@link io.journalq.client.error.ClientClosedException}. If an argument is null, a call throws {@link
 * NullPointerException}.
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
    private final AclCalls acls;
    private final PartitionCalls partitions;
    private final OffsetLookup offsets;
    private final AsyncAdmin async = new AsyncAdmin(this);

    private Admin(ClientConfig config) {
        this.core = new ClientCore(config, new Cluster.Listener() {});
        this.topics = new TopicCalls(core.calls(), config.requestTimeoutMs());
        this.configs = new ConfigCalls(core.calls());
        this.clusterCalls = new ClusterCalls(core.cluster(), core.calls());
        this.partitions = new PartitionCalls(core.calls(), config.requestTimeoutMs());
        this.groups = new GroupCalls(core.cluster(), core.calls());
        this.transactions = new TransactionCalls(core.cluster(), core.calls());
        this.acls = new AclCalls(core.calls());
        this.offsets = new OffsetLookup(core.cluster(), core.calls());
    }

    /** Returns a builder with the default settings. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Creates one topic. When the call returns, the broker that responded knows the topic.
     *
     * @throws io.journalq.client.error.TopicExistsException if a topic of that name exists
     */
    public void createTopic(NewTopic topic) {
        core.requireOpen();
        topics.create(List.of(notNull(topic, "topic")));
    }

    /**
     * Creates topics. If a topic cannot be created, the others are created nevertheless.
     *
     * @throws JournalQException the first error; the errors of other topics are suppressed in it
     */
    public void createTopics(Collection<NewTopic> newTopics) {
        core.requireOpen();
        topics.create(noNulls(newTopics, "newTopics"));
    }

    /**
     * Deletes topics and all their records. If a topic cannot be deleted, the others are deleted nevertheless.
     *
     * @throws JournalQException the first error; the errors of other topics are suppressed in it
     */
    public void deleteTopics(Collection<String> names) {
        core.requireOpen();
        topics.delete(noNulls(names, "names"));
    }

    /** Returns all topics, sorted by name, including internal ones. */
    public List<TopicListing> listTopics() {
        core.requireOpen();
        return topics.list();
    }

    /**
     * Returns these topics with their partitions, in the order of {@code names}.
     *
     * @throws io.journalq.client.error.UnknownTopicException if one of the topics does not exist
     */
    public Map<String, TopicDescription> describeTopics(Collection<String> names) {
        core.requireOpen();
        return topics.describe(noNulls(names, "names"));
    }

    /**
     * Increases the number of partitions of a topic. Afterwards, records with the same key can go to a different
     * partition.
     *
     * @param totalCount the new number of partitions, larger than the current one
     */
    public void createPartitions(String topic, int totalCount) {
        core.requireOpen();
        topics.createPartitions(notNull(topic, "topic"), totalCount);
    }

    /** Returns all effective configurations of each resource, sorted by name. */
    public Map<ConfigResource, List<ConfigEntry>> describeConfigs(Collection<ConfigResource> resources) {
        core.requireOpen();
        return configs.describe(noNulls(resources, "resources"));
    }

    /** Changes configurations of one resource. All other configurations keep their values. */
    public void alterConfigs(ConfigResource resource, Collection<ConfigChange> changes) {
        core.requireOpen();
        configs.alter(notNull(resource, "resource"), noNulls(changes, "changes"));
    }

    /** Looks up one offset of each partition. */
    public Map<TopicPartition, ListedOffset> listOffsets(Map<TopicPartition, OffsetSpec> specs) {
        core.requireOpen();
        Map<TopicPartition, Long> timestampsMs = new LinkedHashMap<>();
        noNulls(specs, "specs").forEach((partition, spec) -> timestampsMs.put(partition, spec.timestampMs()));
        return offsets.offsets(timestampsMs);
    }

    /**
     * Deletes the records before an offset in each partition.
     *
     * @param beforeOffsets by partition: the first offset to keep, or -1 to delete all records
     * @return the first offset of each partition after the deletion
     */
    public Map<TopicPartition, Long> deleteRecords(Map<TopicPartition, Long> beforeOffsets) {
        core.requireOpen();
        return clusterCalls.deleteRecords(noNulls(beforeOffsets, "beforeOffsets"));
    }

    /** Returns the brokers of the cluster, including those that are fenced, and the id of the controller. */
    public ClusterDescription describeCluster() {
        core.requireOpen();
        return clusterCalls.describe();
    }

    /** Returns the data directories of all brokers that are not fenced, with the size of each partition in them. */
    public List<LogDirDescription> describeLogDirs() {
        core.requireOpen();
        return clusterCalls.logDirs();
    }

    /** Returns the partitions that are moving to other brokers. */
    public Map<TopicPartition, PartitionReassignment> listPartitionReassignments() {
        core.requireOpen();
        return partitions.listReassignments();
    }

    /**
     * Begins to move partitions to other brokers (KIP-455), and returns without waiting for the end of that. A partition
     * can get more or fewer replicas. If a partition cannot move, the others move nevertheless.
     *
     * <pre>{@code
     * admin.alterPartitionReassignments(Map.of(new TopicPartition("orders", 0), List.of(1, 2, 3)));
     * }</pre>
     *
     * @param targets by partition: the ids of the brokers that have the replicas in the end, the preferred leader first;
     *     an empty list cancels the reassignment in progress
     * @throws JournalQException the first error; the errors of other partitions are suppressed in it
     */
    public void alterPartitionReassignments(Map<TopicPartition, List<Integer>> targets) {
        core.requireOpen();
        partitions.reassign(noNulls(targets, "targets"));
    }

    /**
     * Elects leaders of partitions (KIP-460). If the leader of a partition cannot change, those of the others change
     * nevertheless.
     *
     * @return the partitions that have a new leader; not those that had the right one before
     * @throws JournalQException the first error; the errors of other partitions are suppressed in it
     */
    public Set<TopicPartition> electLeaders(ElectionType type, Collection<TopicPartition> ofPartitions) {
        core.requireOpen();
        return partitions.elect(notNull(type, "type"), noNulls(ofPartitions, "ofPartitions"));
    }

    /** Returns the brokers that vote on the metadata of the cluster. */
    public QuorumDescription describeQuorum() {
        core.requireOpen();
        return clusterCalls.quorum();
    }

    /**
     * Lets a broker read and check a range of its replica of a partition, whether it leads or not. Replicas that were never
     * compacted have the same checksum, below the least of their high watermarks.
     *
     * @param offset batches that end at or before it are not read
     * @param endOffset batches that begin at or behind it are not read; nothing behind the high watermark is
     * @param maxBytes reading stops before it exceeds this size, but not before the first batch; the broker reads at most
     *     8 MiB
     * @throws JournalQException if the broker has no such replica or cannot read it
     * @throws io.journalq.client.error.UnsupportedByBrokerException if the broker is not a JournalQ broker
     */
    public ReplicaCheck checkReplica(
            int brokerId, Uuid topicId, int partition, long offset, long endOffset, int maxBytes) {
        core.requireOpen();
        return clusterCalls.checkReplica(brokerId, notNull(topicId, "topicId"), partition, offset, endOffset, maxBytes);
    }

    /**
     * Adds a running broker to those that vote on the metadata (KIP-853). Adding a voter again changes nothing.
     *
     * @param directoryId the directory that holds its metadata, see {@link #describeQuorum}
     * @param host of its {@code quorum.listener}, as other brokers reach it
     * @param port of the same
     * @throws JournalQException with DUPLICATE_VOTER if a voter with this id has another address, or with
     *     REQUEST_TIMED_OUT if the broker does not respond there
     */
    public void addVoter(int brokerId, Uuid directoryId, String host, int port) {
        core.requireOpen();
        clusterCalls.addVoter(
                brokerId, notNull(directoryId, "directoryId"), new HostAndPort(notNull(host, "host"), port));
    }

    /**
     * Removes a broker that has stopped from those that vote on the metadata (KIP-853), so that fewer of the others are
     * needed for a majority. It keeps its replicas.
     *
     * @param directoryId the directory that holds its metadata, see {@link #describeQuorum}
     * @throws JournalQException with VOTER_NOT_FOUND if it does not vote, or with INVALID_REQUEST if it is running or the
     *     only voter
     */
    public void removeVoter(int brokerId, Uuid directoryId) {
        core.requireOpen();
        clusterCalls.removeVoter(brokerId, notNull(directoryId, "directoryId"));
    }

    /**
     * Removes a broker that has stopped and has no replicas. Its id can be used again, with an empty data directory.
     *
     * @throws JournalQException with INVALID_REQUEST if the broker is running or has replicas
     */
    public void unregisterBroker(int brokerId) {
        core.requireOpen();
        clusterCalls.unregister(brokerId);
    }

    /** Returns all groups of the cluster, sorted by id. The list includes groups that are not consumer groups. */
    public List<GroupListing> listGroups() {
        core.requireOpen();
        return groups.list(clusterCalls);
    }

    /**
     * Returns a group with its members. The group can use the classic or the consumer protocol.
     *
     * @throws io.journalq.client.error.UnknownGroupException if the group does not exist
     */
    public GroupDescription describeGroup(String groupId) {
        core.requireOpen();
        return groups.describe(notNull(groupId, "groupId"));
    }

    /** Returns the committed offsets of a group. The map is empty if the group does not exist. */
    public Map<TopicPartition, CommittedOffset> listGroupOffsets(String groupId) {
        core.requireOpen();
        return groups.offsets(notNull(groupId, "groupId"));
    }

    /**
     * Sets committed offsets of a group. Creates the group if it does not exist. Partitions that are not in the map
     * keep their offsets.
     *
     * <pre>{@code
     * admin.alterGroupOffsets("billing", Map.of(new TopicPartition("orders", 0), CommittedOffset.of(1_500)));
     * }</pre>
     *
     * @throws io.journalq.client.error.GroupNotEmptyException if the group has members: they would continue at their
     *     own positions
     */
    public void alterGroupOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        core.requireOpen();
        groups.alterOffsets(notNull(groupId, "groupId"), noNulls(offsets, "offsets"));
    }

    /**
     * Deletes the committed offsets of a group in these partitions.
     *
     * @throws io.journalq.client.error.GroupNotEmptyException if a member is subscribed to one of the topics
     * @throws io.journalq.client.error.UnknownGroupException if the group does not exist
     */
    public void deleteGroupOffsets(String groupId, Collection<TopicPartition> partitions) {
        core.requireOpen();
        groups.deleteOffsets(notNull(groupId, "groupId"), noNulls(partitions, "partitions"));
    }

    /**
     * Deletes a group with all its committed offsets.
     *
     * @throws io.journalq.client.error.GroupNotEmptyException if the group has members
     * @throws io.journalq.client.error.UnknownGroupException if the group does not exist
     */
    public void deleteGroup(String groupId) {
        core.requireOpen();
        groups.delete(notNull(groupId, "groupId"));
    }

    /** Returns all transactional ids of the cluster, sorted by name. */
    public List<TransactionListing> listTransactions() {
        core.requireOpen();
        return transactions.list(clusterCalls);
    }

    /**
     * Returns a transactional id and its open transaction.
     *
     * @throws io.journalq.client.error.UnknownTransactionalIdException if the transactional id is not known
     */
    public TransactionDescription describeTransaction(String transactionalId) {
        core.requireOpen();
        return transactions.describe(notNull(transactionalId, "transactionalId"));
    }

    /**
     * Aborts an open transaction. The producer is fenced: what it sends from then on is rejected. When the call
     * returns, consumers with {@code READ_COMMITTED} can read past the transaction.
     *
     * @param open the transaction, as returned by {@link #describeTransaction}
     */
    public void abortTransaction(TransactionDescription open) {
        core.requireOpen();
        transactions.abort(notNull(open, "open"));
    }

    /**
     * Returns the access control lists (ACLs) that a filter selects, in an order that the broker keeps.
     *
     * @throws JournalQException with SECURITY_DISABLED if the broker does not enforce rights
     */
    public List<AclBinding> describeAcls(AclFilter filter) {
        core.requireOpen();
        return acls.describe(notNull(filter, "filter"));
    }

    /**
     * Adds ACLs. One that exists is not added again. If an ACL cannot be added, the others are added nevertheless.
     *
     * @throws JournalQException the first error; the errors of other ACLs are suppressed in it
     */
    public void createAcls(Collection<AclBinding> bindings) {
        core.requireOpen();
        acls.create(noNulls(bindings, "bindings"));
    }

    /**
     * Removes the ACLs that filters select.
     *
     * @return the ACLs that were removed
     * @throws JournalQException the first error; ACLs that other filters select are removed nevertheless
     */
    public List<AclBinding> deleteAcls(Collection<AclFilter> filters) {
        core.requireOpen();
        return acls.delete(noNulls(filters, "filters"));
    }

    /**
     * Returns all users who log in with passwords.
     *
     * @throws JournalQException if the client may not describe the cluster
     */
    public List<UserDescription> describeUsers() {
        core.requireOpen();
        return acls.describeUsers();
    }

    /** Returns a view of this admin whose calls do not block. */
    public AsyncAdmin async() {
        core.requireOpen();
        return async;
    }

    void requireOpen() {
        core.requireOpen();
    }

    /**
     * Closes the connections. Calls in progress, and all later ones, throw {@link
     * io.journalq.client.error.ClientClosedException}. A second call of this method has no effect.
     */
    @Override
    public void close() {
        core.close();
        async.close();
    }

    /** The settings of an admin. Not thread-safe. */
    public static final class Builder extends ClientBuilder<Builder> {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /** Creates the admin. It connects in the background; errors are reported by its first call. */
        public Admin build() {
            return new Admin(clientConfig(Admin.class));
        }
    }
}
