package io.journalq.client.internal.admin;

import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.QuorumDescription;
import io.journalq.client.admin.ReplicaCheck;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddRaftVoterRequest;
import io.journalq.common.protocol.message.AddRaftVoterResponse;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DescribeClusterRequest;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import io.journalq.common.protocol.message.DescribeLogDirsRequest;
import io.journalq.common.protocol.message.DescribeLogDirsResponse;
import io.journalq.common.protocol.message.DescribeQuorumRequest;
import io.journalq.common.protocol.message.DescribeQuorumResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.ReadReplicaRequest;
import io.journalq.common.protocol.message.ReadReplicaResponse;
import io.journalq.common.protocol.message.RemoveRaftVoterRequest;
import io.journalq.common.protocol.message.RemoveRaftVoterResponse;
import io.journalq.common.protocol.message.UnregisterBrokerRequest;
import io.journalq.common.protocol.message.UnregisterBrokerResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Requests about brokers, data directories and records. Thread-safe. */
public final class ClusterCalls {
    private static final int DESCRIBE_CLUSTER_NEWEST = 2;
    private static final short FIRST_CLUSTER_VERSION_WITH_FENCED = 2;
    private static final int DESCRIBE_QUORUM_NEWEST = 2;
    private static final int READ_REPLICA_NEWEST = 0;
    private static final int UNREGISTER_NEWEST = 0;
    private static final int ADD_VOTER_NEWEST = 1;
    private static final int REMOVE_VOTER_NEWEST = 0;
    private static final String QUORUM_LISTENER = "QUORUM";
    private static final String METADATA_TOPIC = "__cluster_metadata";
    private static final int METADATA_NEWEST = 10;
    private static final int DELETE_RECORDS_NEWEST = 2;
    private static final int DESCRIBE_LOG_DIRS_NEWEST = 4;
    private static final long NOT_TOLD = -1L;

    private final Cluster cluster;
    private final BlockingCalls calls;

    public ClusterCalls(Cluster cluster, BlockingCalls calls) {
        this.cluster = cluster;
        this.calls = calls;
    }

    public ClusterDescription describe() {
        return calls.retrying(this::describeOnce);
    }

    private ClusterDescription describeOnce() {
        try {
            return describeCluster();
        } catch (UnsupportedByBrokerException e) {
            return describeByMetadata();
        }
    }

    public List<LogDirDescription> logDirs() {
        List<LogDirDescription> directories = new ArrayList<>();
        for (int brokerId : calls.retrying(this::reachableBrokers)) {
            directories.addAll(calls.retrying(() -> logDirsUnlessFenced(brokerId)));
        }
        return directories;
    }

    /** A broker that dies now is found to be fenced after some seconds. The others still have their directories. */
    private List<LogDirDescription> logDirsUnlessFenced(int brokerId) {
        try {
            return logDirs(brokerId);
        } catch (JournalQException e) {
            if (e.retriable() && isFenced(brokerId)) {
                return List.of();
            }
            throw e;
        }
    }

    /** Whether a broker serves no clients now, or has left the cluster. */
    private boolean isFenced(int brokerId) {
        return describeOnce().brokers().stream().noneMatch(broker -> broker.id() == brokerId && !broker.fenced());
    }

    /**
     * Asks all brokers that serve clients. If one of them does not respond, asks all again: when it is fenced, brokers
     * that had responded before can have taken over what it coordinated.
     */
    <T> List<T> askAll(IntFunction<List<T>> question) {
        return calls.retrying(() -> {
            List<T> all = new ArrayList<>();
            for (int brokerId : reachableBrokers()) {
                all.addAll(question.apply(brokerId));
            }
            return all;
        });
    }

    /**
     * Returns the ids of all brokers that serve clients. Their addresses are then in the view of the cluster, so that
     * connections can be opened.
     */
    private List<Integer> reachableBrokers() {
        List<Integer> ids = describeOnce().brokers().stream()
                .filter(broker -> !broker.fenced())
                .map(BrokerNode::id)
                .toList();
        ids.forEach(this::findBroker);
        return ids;
    }

    public QuorumDescription quorum() {
        DescribeQuorumResponse response = calls.retrying(() -> calls.call(
                BlockingCalls.ANY_BROKER,
                ApiKey.DESCRIBE_QUORUM,
                DESCRIBE_QUORUM_NEWEST,
                DescribeQuorumResponse.class,
                version -> new DescribeQuorumRequest()
                        .setTopics(List.of(new DescribeQuorumRequest.TopicData()
                                .setTopicName(METADATA_TOPIC)
                                .setPartitions(List.of(new DescribeQuorumRequest.PartitionData()))))));
        Failures failures = new Failures();
        failures.add(response.errorCode(), "the quorum", response.errorMessage());
        failures.throwFirst();
        DescribeQuorumResponse.PartitionData metadata =
                response.topics().get(0).partitions().get(0);
        failures.add(metadata.errorCode(), "the quorum", metadata.errorMessage());
        failures.throwFirst();
        return new QuorumDescription(
                metadata.leaderId(),
                metadata.leaderEpoch(),
                metadata.highWatermark(),
                metadata.currentVoters().stream()
                        .map(voter -> new QuorumDescription.Voter(
                                voter.replicaId(), voter.replicaDirectoryId(), voter.logEndOffset()))
                        .sorted(Comparator.comparingInt(QuorumDescription.Voter::brokerId))
                        .toList());
    }

    public ReplicaCheck checkReplica(
            int brokerId, Uuid topicId, int partition, long offset, long endOffset, int maxBytes) {
        ReadReplicaResponse response = calls.retrying(() -> {
            findBroker(brokerId);
            ReadReplicaResponse read = calls.call(
                    brokerId,
                    ApiKey.READ_REPLICA,
                    READ_REPLICA_NEWEST,
                    ReadReplicaResponse.class,
                    version -> new ReadReplicaRequest()
                            .setTopicId(topicId)
                            .setPartition(partition)
                            .setOffset(offset)
                            .setEndOffset(endOffset)
                            .setMaxBytes(maxBytes));
            Failures failures = new Failures();
            failures.add(read.errorCode(), "the replica on broker " + brokerId, read.errorMessage());
            failures.throwFirst();
            return read;
        });
        return new ReplicaCheck(
                response.startOffset(),
                response.highWatermark(),
                response.mayHaveGaps(),
                response.endOffset(),
                response.damagedUntil(),
                response.sizeBytes(),
                response.batches(),
                response.checksum());
    }

    public void unregister(int brokerId) {
        calls.retrying(() -> {
            UnregisterBrokerResponse response = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.UNREGISTER_BROKER,
                    UNREGISTER_NEWEST,
                    UnregisterBrokerResponse.class,
                    version -> new UnregisterBrokerRequest().setBrokerId(brokerId));
            Failures.throwIfNotController(response.errorCode());
            Failures failures = new Failures();
            failures.add(response.errorCode(), "broker " + brokerId, response.errorMessage());
            failures.throwFirst();
            return null;
        });
    }

    public void addVoter(int brokerId, Uuid directoryId, HostAndPort listener) {
        calls.retrying(() -> {
            AddRaftVoterResponse response = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.ADD_RAFT_VOTER,
                    ADD_VOTER_NEWEST,
                    AddRaftVoterResponse.class,
                    version -> new AddRaftVoterRequest()
                            .setClusterId(null)
                            .setTimeoutMs(cluster.config().callTimeoutMs())
                            .setVoterId(brokerId)
                            .setVoterDirectoryId(directoryId)
                            .setListeners(List.of(new AddRaftVoterRequest.Listener()
                                    .setName(QUORUM_LISTENER)
                                    .setHost(listener.host())
                                    .setPort(listener.port()))));
            throwIfRefused(response.errorCode(), brokerId, response.errorMessage());
            return null;
        });
    }

    public void removeVoter(int brokerId, Uuid directoryId) {
        calls.retrying(() -> {
            RemoveRaftVoterResponse response = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.REMOVE_RAFT_VOTER,
                    REMOVE_VOTER_NEWEST,
                    RemoveRaftVoterResponse.class,
                    version -> new RemoveRaftVoterRequest()
                            .setClusterId(null)
                            .setVoterId(brokerId)
                            .setVoterDirectoryId(directoryId));
            throwIfRefused(response.errorCode(), brokerId, response.errorMessage());
            return null;
        });
    }

    private static void throwIfRefused(short error, int voterId, String message) {
        Failures.throwIfNotController(error);
        Failures failures = new Failures();
        failures.add(error, "voter " + voterId, message);
        failures.throwFirst();
    }

    public Map<TopicPartition, Long> deleteRecords(Map<TopicPartition, Long> beforeOffsets) {
        Map<TopicPartition, Long> deleted = new LinkedHashMap<>();
        beforeOffsets.forEach((partition, offset) -> deleted.put(partition, deleteRecords(partition, offset)));
        return deleted;
    }

    private long deleteRecords(TopicPartition partition, long beforeOffset) {
        BlockingCalls.Deadline deadline = calls.deadline();
        while (true) {
            // It waits for a partition that was just added. One that does not exist then is not asked for again.
            ClusterView.Topic topic = cluster.metadata()
                    .awaitPartition(partition, cluster.config().callTimeoutMs());
            try {
                return deleteRecords(topic.leaders()[partition.partition()], partition, beforeOffset);
            } catch (JournalQException e) {
                deadline.pauseOrThrow(e);
            }
        }
    }

    private ClusterDescription describeCluster() {
        DescribeClusterResponse response = calls.call(
                BlockingCalls.ANY_BROKER,
                ApiKey.DESCRIBE_CLUSTER,
                DESCRIBE_CLUSTER_NEWEST,
                DescribeClusterResponse.class,
                version -> version >= FIRST_CLUSTER_VERSION_WITH_FENCED
                        ? new DescribeClusterRequest().setIncludeFencedBrokers(true)
                        : new DescribeClusterRequest());
        Failures failures = new Failures();
        failures.add(response.errorCode(), "the cluster", response.errorMessage());
        failures.throwFirst();
        return new ClusterDescription(
                response.clusterId(),
                response.controllerId(),
                response.brokers().stream()
                        .map(broker -> new BrokerNode(
                                broker.brokerId(), broker.host(), broker.port(), broker.rack(), broker.isFenced()))
                        .sorted(Comparator.comparingInt(BrokerNode::id))
                        .toList());
    }

    private ClusterDescription describeByMetadata() {
        MetadataResponse response = calls.call(
                BlockingCalls.ANY_BROKER,
                ApiKey.METADATA,
                METADATA_NEWEST,
                MetadataResponse.class,
                version -> new MetadataRequest().setTopics(List.of()));
        return new ClusterDescription(
                response.clusterId(),
                response.controllerId(),
                response.brokers().stream()
                        .map(broker ->
                                new BrokerNode(broker.nodeId(), broker.host(), broker.port(), broker.rack(), false))
                        .sorted(Comparator.comparingInt(BrokerNode::id))
                        .toList());
    }

    private void findBroker(int id) {
        if (!cluster.metadata().view().brokers().containsKey(id)) {
            calls.await(cluster.metadata().update(null), cluster.config().callTimeoutMs(), "lookup of broker " + id);
            if (!cluster.metadata().view().brokers().containsKey(id)) {
                throw new ConnectionFailedException("broker " + id + " left the cluster; try again");
            }
        }
    }

    private List<LogDirDescription> logDirs(int brokerId) {
        DescribeLogDirsResponse response = calls.call(
                brokerId,
                ApiKey.DESCRIBE_LOG_DIRS,
                DESCRIBE_LOG_DIRS_NEWEST,
                DescribeLogDirsResponse.class,
                version -> new DescribeLogDirsRequest().setTopics(null));
        Failures failures = new Failures();
        failures.add(response.errorCode(), "data directories of broker " + brokerId, null);
        List<LogDirDescription> directories = new ArrayList<>();
        for (DescribeLogDirsResponse.DescribeLogDirsResult result : response.results()) {
            failures.add(result.errorCode(), "data directory " + result.logDir() + " of broker " + brokerId, null);
            Map<TopicPartition, Long> sizes = new HashMap<>();
            for (DescribeLogDirsResponse.DescribeLogDirsTopic topic : result.topics()) {
                for (DescribeLogDirsResponse.DescribeLogDirsPartition partition : topic.partitions()) {
                    sizes.put(new TopicPartition(topic.name(), partition.partitionIndex()), partition.partitionSize());
                }
            }
            directories.add(new LogDirDescription(
                    brokerId,
                    result.logDir(),
                    Math.max(NOT_TOLD, result.totalBytes()),
                    Math.max(NOT_TOLD, result.usableBytes()),
                    sizes));
        }
        failures.throwFirst();
        return directories;
    }

    private long deleteRecords(int leader, TopicPartition partition, long beforeOffset) {
        int timeoutMs = cluster.config().requestTimeoutMs();
        String subject = "deletion of records of " + partition;
        Failures failures = new Failures();
        DeleteRecordsResponse response = calls.call(
                leader,
                ApiKey.DELETE_RECORDS,
                DELETE_RECORDS_NEWEST,
                DeleteRecordsResponse.class,
                version -> new DeleteRecordsRequest()
                        .setTimeoutMs(timeoutMs)
                        .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                                .setName(partition.topic())
                                .setPartitions(List.of(new DeleteRecordsRequest.DeleteRecordsPartition()
                                        .setPartitionIndex(partition.partition())
                                        .setOffset(beforeOffset))))));
        long lowWatermark = NOT_TOLD;
        for (DeleteRecordsResponse.DeleteRecordsTopicResult result : response.topics()) {
            for (DeleteRecordsResponse.DeleteRecordsPartitionResult deleted : result.partitions()) {
                // The topic can also have been created again, with other leaders or fewer partitions.
                if (deleted.errorCode() == ErrorCode.NOT_LEADER_OR_FOLLOWER.code()
                        || deleted.errorCode() == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code()) {
                    cluster.execute(() -> cluster.metadata().requestUpdate());
                }
                failures.add(deleted.errorCode(), subject, null);
                lowWatermark = deleted.lowWatermark();
            }
        }
        failures.throwFirst();
        return lowWatermark;
    }
}
