package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.*;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A request of each API, for tests of all APIs: about topic {@code t}, groups {@code g} and {@code x}, and transactional
 * id {@code x}.
 */
public final class SampleRequests {
    private static final int FIRST_PRODUCE_WITH_IDS = 13;
    private static final int FIRST_BATCHED_ADD_PARTITIONS = 4;

    private final Uuid topicId;

    /** @param topicId the id of topic {@code t} */
    public SampleRequests(Uuid topicId) {
        this.topicId = topicId;
    }

    /** A valid request of each API in a given version, which finds existing data. */
    public Map<ApiKey, IntFunction<ApiMessage>> byApi() {
        return Map.ofEntries(
                Map.entry(ApiKey.PRODUCE, this::produce),
                Map.entry(ApiKey.FETCH, this::fetch),
                Map.entry(ApiKey.LIST_OFFSETS, version -> listOffsets()),
                Map.entry(ApiKey.OFFSET_FOR_LEADER_EPOCH, version -> offsetForLeaderEpoch()),
                Map.entry(ApiKey.METADATA, version -> new MetadataRequest()
                        .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("t")))),
                Map.entry(ApiKey.DELETE_RECORDS, version -> new DeleteRecordsRequest()
                        .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                                .setName("t")
                                .setPartitions(List.of(new DeleteRecordsRequest.DeleteRecordsPartition()
                                        .setPartitionIndex(0)
                                        .setOffset(1)))))),
                Map.entry(ApiKey.INIT_PRODUCER_ID, version -> new InitProducerIdRequest()
                        .setTransactionalId(null)
                        .setTransactionTimeoutMs(1_000)),
                Map.entry(ApiKey.ADD_PARTITIONS_TO_TXN, this::addPartitionsToTxn),
                Map.entry(ApiKey.ADD_OFFSETS_TO_TXN, version -> new AddOffsetsToTxnRequest()
                        .setTransactionalId("x")
                        .setGroupId("g")),
                Map.entry(ApiKey.END_TXN, version -> new EndTxnRequest().setTransactionalId("x")),
                Map.entry(ApiKey.TXN_OFFSET_COMMIT, version -> new TxnOffsetCommitRequest()
                        .setTransactionalId("x")
                        .setGroupId("g")
                        .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                                .setName("t")
                                .setPartitions(
                                        List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()))))),
                Map.entry(ApiKey.WRITE_TXN_MARKERS, version -> new WriteTxnMarkersRequest()
                        .setMarkers(List.of(new WriteTxnMarkersRequest.WritableTxnMarker()
                                .setProducerId(9_999)
                                .setTopics(List.of(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                                        .setName("t")
                                        .setPartitionIndexes(List.of(0))))))),
                Map.entry(ApiKey.DESCRIBE_PRODUCERS, version -> new DescribeProducersRequest()
                        .setTopics(List.of(new DescribeProducersRequest.TopicRequest()
                                .setName("t")
                                .setPartitionIndexes(List.of(0))))),
                Map.entry(ApiKey.DESCRIBE_TRANSACTIONS, version -> new DescribeTransactionsRequest()
                        .setTransactionalIds(List.of("x", ""))),
                Map.entry(ApiKey.LIST_TRANSACTIONS, version -> new ListTransactionsRequest()),
                Map.entry(ApiKey.DESCRIBE_CONFIGS, version -> new DescribeConfigsRequest()
                        .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                                .setResourceType((byte) 2)
                                .setResourceName("t")
                                .setConfigurationKeys(null)))),
                Map.entry(ApiKey.DESCRIBE_LOG_DIRS, version -> new DescribeLogDirsRequest().setTopics(null)),
                Map.entry(ApiKey.DESCRIBE_CLUSTER, version -> new DescribeClusterRequest()),
                Map.entry(ApiKey.READ_REPLICA, version -> new ReadReplicaRequest()
                        .setTopicId(topicId)
                        .setEndOffset(3)
                        .setMaxBytes(1_000)),
                Map.entry(ApiKey.DESCRIBE_TOPIC_PARTITIONS, version -> new DescribeTopicPartitionsRequest()
                        .setTopics(List.of(new DescribeTopicPartitionsRequest.TopicRequest().setName("t")))),
                Map.entry(ApiKey.CREATE_TOPICS, version -> new CreateTopicsRequest()
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName("v" + version)
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1)))
                        .setTimeoutMs(1_000)),
                Map.entry(
                        ApiKey.DELETE_TOPICS,
                        version -> version < 6
                                ? new DeleteTopicsRequest().setTopicNames(List.of("none"))
                                : new DeleteTopicsRequest()
                                        .setTopics(
                                                List.of(new DeleteTopicsRequest.DeleteTopicState().setName("none")))),
                Map.entry(
                        ApiKey.FIND_COORDINATOR,
                        version -> version < 4
                                ? new FindCoordinatorRequest().setKey("g")
                                : new FindCoordinatorRequest().setCoordinatorKeys(List.of("g", "h"))),
                Map.entry(ApiKey.JOIN_GROUP, version -> new JoinGroupRequest()
                        .setGroupId("g" + version)
                        .setSessionTimeoutMs(10_000)
                        .setRebalanceTimeoutMs(10_000)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(io.netty.buffer.Unpooled.EMPTY_BUFFER)))),
                Map.entry(
                        ApiKey.SYNC_GROUP,
                        version -> new SyncGroupRequest().setGroupId("g").setMemberId("nobody")),
                Map.entry(
                        ApiKey.HEARTBEAT,
                        version -> new HeartbeatRequest().setGroupId("g").setMemberId("nobody")),
                Map.entry(
                        ApiKey.LEAVE_GROUP,
                        version -> version < 3
                                ? new LeaveGroupRequest().setGroupId("g").setMemberId("nobody")
                                : new LeaveGroupRequest()
                                        .setGroupId("g")
                                        .setMembers(
                                                List.of(new LeaveGroupRequest.MemberIdentity().setMemberId("nobody")))),
                Map.entry(ApiKey.OFFSET_COMMIT, this::offsetCommit),
                Map.entry(ApiKey.OFFSET_FETCH, this::offsetFetch),
                Map.entry(ApiKey.LIST_GROUPS, version -> new ListGroupsRequest()),
                Map.entry(ApiKey.DESCRIBE_GROUPS, version -> new DescribeGroupsRequest().setGroups(List.of("g", "x"))),
                Map.entry(ApiKey.DELETE_GROUPS, version -> new DeleteGroupsRequest().setGroupsNames(List.of("x"))),
                Map.entry(ApiKey.OFFSET_DELETE, version -> new OffsetDeleteRequest().setGroupId("x")),
                Map.entry(ApiKey.ELECT_LEADERS, version -> new ElectLeadersRequest()
                        .setTopicPartitions(List.of(new ElectLeadersRequest.TopicPartitions()
                                .setTopic("t")
                                .setPartitions(List.of(0, 1))))),
                Map.entry(ApiKey.ALTER_PARTITION_REASSIGNMENTS, version -> new AlterPartitionReassignmentsRequest()
                        .setTopics(List.of(new AlterPartitionReassignmentsRequest.ReassignableTopic()
                                .setName("t")
                                .setPartitions(
                                        List.of(new AlterPartitionReassignmentsRequest.ReassignablePartition()))))),
                Map.entry(ApiKey.UNREGISTER_BROKER, version -> new UnregisterBrokerRequest().setBrokerId(77)),
                Map.entry(ApiKey.ADD_RAFT_VOTER, version -> new AddRaftVoterRequest().setVoterId(77)),
                Map.entry(ApiKey.REMOVE_RAFT_VOTER, version -> new RemoveRaftVoterRequest().setVoterId(77)),
                Map.entry(ApiKey.LIST_PARTITION_REASSIGNMENTS, version -> new ListPartitionReassignmentsRequest()),
                Map.entry(ApiKey.DESCRIBE_QUORUM, version -> new DescribeQuorumRequest()
                        .setTopics(List.of(new DescribeQuorumRequest.TopicData()
                                .setTopicName("__cluster_metadata")
                                .setPartitions(List.of(new DescribeQuorumRequest.PartitionData()))))),
                Map.entry(ApiKey.UPDATE_FEATURES, version -> new UpdateFeaturesRequest()
                        .setFeatureUpdates(List.of(new UpdateFeaturesRequest.FeatureUpdateKey()
                                .setFeature("group.version")
                                .setMaxVersionLevel((short) 9)))),
                Map.entry(ApiKey.LIST_CONFIG_RESOURCES, version -> new ListConfigResourcesRequest()),
                Map.entry(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, version -> new DescribeUserScramCredentialsRequest()
                        .setUsers(null)),
                Map.entry(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, version -> new AlterUserScramCredentialsRequest()),
                Map.entry(ApiKey.SASL_HANDSHAKE, version -> new SaslHandshakeRequest().setMechanism("PLAIN")),
                Map.entry(ApiKey.SASL_AUTHENTICATE, version -> new SaslAuthenticateRequest()),
                Map.entry(ApiKey.DESCRIBE_ACLS, version -> new DescribeAclsRequest()),
                Map.entry(ApiKey.CREATE_ACLS, version -> new CreateAclsRequest()
                        .setCreations(List.of(new CreateAclsRequest.AclCreation()))),
                Map.entry(ApiKey.DELETE_ACLS, version -> new DeleteAclsRequest()
                        .setFilters(List.of(new DeleteAclsRequest.DeleteAclsFilter()))),
                Map.entry(ApiKey.DESCRIBE_CLIENT_QUOTAS, version -> new DescribeClientQuotasRequest()),
                Map.entry(ApiKey.ALTER_CLIENT_QUOTAS, version -> new AlterClientQuotasRequest()
                        .setEntries(List.of(new AlterClientQuotasRequest.EntryData()
                                .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                        .setEntityType("client-id")
                                        .setEntityName(null)))))));
    }

    private ApiMessage produce(int version) {
        ProduceRequest request = WireClient.produceRequest("t", 0, WireClient.batch(1, new byte[10]));
        if (version >= FIRST_PRODUCE_WITH_IDS) {
            request.topicData().get(0).setName("").setTopicId(topicId);
        }
        return request;
    }

    private ApiMessage addPartitionsToTxn(int version) {
        List<AddPartitionsToTxnRequest.AddPartitionsToTxnTopic> topics =
                List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName("t")
                        .setPartitions(List.of(0)));
        AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest();
        return version < FIRST_BATCHED_ADD_PARTITIONS
                ? request.setV3AndBelowTransactionalId("x").setV3AndBelowTopics(topics)
                : request.setTransactions(List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction()
                        .setTransactionalId("x")
                        .setTopics(topics)));
    }

    private ApiMessage fetch(int version) {
        FetchRequest.FetchTopic topic = new FetchRequest.FetchTopic()
                .setPartitions(List.of(
                        new FetchRequest.FetchPartition().setPartition(0).setPartitionMaxBytes(1_000)));
        return new FetchRequest()
                .setMaxWaitMs(0)
                .setMaxBytes(1_000)
                .setTopics(List.of(version < 13 ? topic.setTopic("t") : topic.setTopicId(topicId)));
    }

    private static ApiMessage listOffsets() {
        return new ListOffsetsRequest()
                .setReplicaId(-1)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName("t")
                        .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(0)))));
    }

    private static ApiMessage offsetForLeaderEpoch() {
        return new OffsetForLeaderEpochRequest()
                .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                .setPartition(0)
                                .setLeaderEpoch(0)))));
    }

    private ApiMessage offsetCommit(int version) {
        OffsetCommitRequest.OffsetCommitRequestTopic topic = new OffsetCommitRequest.OffsetCommitRequestTopic()
                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                        .setPartitionIndex(0)
                        .setCommittedOffset(1)));
        return new OffsetCommitRequest()
                .setGroupId("x")
                .setTopics(List.of(version < 10 ? topic.setName("t") : topic.setTopicId(topicId)));
    }

    private ApiMessage offsetFetch(int version) {
        if (version < 8) {
            return new OffsetFetchRequest()
                    .setGroupId("x")
                    .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                            .setName("t")
                            .setPartitionIndexes(List.of(0))));
        }
        OffsetFetchRequest.OffsetFetchRequestTopics topic =
                new OffsetFetchRequest.OffsetFetchRequestTopics().setPartitionIndexes(List.of(0));
        return new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId("x")
                        .setTopics(List.of(version < 10 ? topic.setName("t") : topic.setTopicId(topicId)))));
    }
}
