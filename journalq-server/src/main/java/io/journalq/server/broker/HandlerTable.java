package io.journalq.server.broker;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.ApiVersionsHandler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.admin.AutoCreationRate;
import io.journalq.server.api.admin.BrokerIdentity;
import io.journalq.server.api.admin.CreatePartitionsHandler;
import io.journalq.server.api.admin.CreateTopicsHandler;
import io.journalq.server.api.admin.CreationRefusals;
import io.journalq.server.api.admin.DeleteTopicsHandler;
import io.journalq.server.api.admin.DescribeClusterHandler;
import io.journalq.server.api.admin.DescribeLogDirsHandler;
import io.journalq.server.api.admin.DescribeTopicPartitionsHandler;
import io.journalq.server.api.admin.LogDirectories;
import io.journalq.server.api.admin.MetadataHandler;
import io.journalq.server.api.admin.OfflineReplicas;
import io.journalq.server.api.admin.cluster.AlterPartitionReassignmentsHandler;
import io.journalq.server.api.admin.cluster.DescribeQuorumHandler;
import io.journalq.server.api.admin.cluster.ElectLeadersHandler;
import io.journalq.server.api.admin.cluster.ListPartitionReassignmentsHandler;
import io.journalq.server.api.admin.cluster.UpdateFeaturesHandler;
import io.journalq.server.api.admin.config.AlterConfigsHandler;
import io.journalq.server.api.admin.config.ConfigAlteration;
import io.journalq.server.api.admin.config.ConfigDescriber;
import io.journalq.server.api.admin.config.DescribeConfigsHandler;
import io.journalq.server.api.admin.config.EffectlessSettings;
import io.journalq.server.api.admin.config.IncrementalAlterConfigsHandler;
import io.journalq.server.api.admin.config.ListConfigResourcesHandler;
import io.journalq.server.api.admin.quota.AlterClientQuotasHandler;
import io.journalq.server.api.admin.quota.DescribeClientQuotasHandler;
import io.journalq.server.api.admin.security.CreateAclsHandler;
import io.journalq.server.api.admin.security.DeleteAclsHandler;
import io.journalq.server.api.admin.security.DescribeAclsHandler;
import io.journalq.server.api.admin.security.DescribeUserScramCredentialsHandler;
import io.journalq.server.api.data.DeleteRecordsHandler;
import io.journalq.server.api.data.DescribeProducersHandler;
import io.journalq.server.api.data.FetchHandler;
import io.journalq.server.api.data.ListOffsetsHandler;
import io.journalq.server.api.data.OffsetForLeaderEpochHandler;
import io.journalq.server.api.data.ProduceHandler;
import io.journalq.server.api.data.TransactionGate;
import io.journalq.server.api.data.WriteTxnMarkersHandler;
import io.journalq.server.api.group.ConsumerGroupDescribeHandler;
import io.journalq.server.api.group.ConsumerGroupHeartbeatHandler;
import io.journalq.server.api.group.CoordinatorTopic;
import io.journalq.server.api.group.DeleteGroupsHandler;
import io.journalq.server.api.group.DescribeGroupsHandler;
import io.journalq.server.api.group.FindCoordinatorHandler;
import io.journalq.server.api.group.GroupRefusals;
import io.journalq.server.api.group.HeartbeatHandler;
import io.journalq.server.api.group.JoinGroupHandler;
import io.journalq.server.api.group.LeaveGroupHandler;
import io.journalq.server.api.group.ListGroupsHandler;
import io.journalq.server.api.group.OffsetCommitHandler;
import io.journalq.server.api.group.OffsetDeleteHandler;
import io.journalq.server.api.group.OffsetFetchHandler;
import io.journalq.server.api.group.SyncGroupHandler;
import io.journalq.server.api.telemetry.GetTelemetrySubscriptionsHandler;
import io.journalq.server.api.telemetry.PushTelemetryHandler;
import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.api.transaction.AddOffsetsToTxnHandler;
import io.journalq.server.api.transaction.AddPartitionsToTxnHandler;
import io.journalq.server.api.transaction.CoordinatorGate;
import io.journalq.server.api.transaction.DescribeTransactionsHandler;
import io.journalq.server.api.transaction.EndTxnHandler;
import io.journalq.server.api.transaction.InitProducerIdHandler;
import io.journalq.server.api.transaction.ListTransactionsHandler;
import io.journalq.server.api.transaction.ProducerIds;
import io.journalq.server.api.transaction.TxnOffsetCommitHandler;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Every API that is served, with its versions and its handler. */
final class HandlerTable {
    /** Ids taken from the controller at a time: few blocks, and few ids lost when the broker stops. */
    private static final int PRODUCER_ID_BLOCK_SIZE = 1_000;

    private final HandlerRegistry registry = new HandlerRegistry();
    private final RefusalLog refusals = new RefusalLog();
    private final GroupRefusals groupRefusals = new GroupRefusals(refusals);
    private final BrokerConfig config;
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final MemoryBudget memory;
    private CoordinatorTopic groupsTopic;
    private CoordinatorTopic transactionsTopic;

    HandlerTable(BrokerConfig config, MetadataPublisher metadata, Controller controller, MemoryBudget memory) {
        this.memory = memory;
        this.config = config;
        this.metadata = metadata;
        this.controller = controller;
        registry.register(ApiKey.API_VERSIONS, 0, 4, new ApiVersionsHandler(registry, metadata::current));
    }

    HandlerRegistry registry() {
        return registry;
    }

    /** What moves records. Returns the handler of fetches, whose waiting ends when the broker stops. */
    FetchHandler registerData(Shards shards, Executor blockingPool, TransactionGate transactions) {
        Supplier<MetadataImage> images = metadata::current;
        FetchHandler fetch = new FetchHandler(
                images,
                shards,
                blockingPool,
                config.get(BrokerSettings.FETCH_MAX_BYTES),
                config.get(BrokerSettings.FETCH_SESSIONS_MAX_PARTITIONS),
                memory.part(StatePart.FETCH_SESSIONS));
        registry.register(ApiKey.PRODUCE, 3, 13, new ProduceHandler(images, shards, transactions, refusals));
        registry.register(ApiKey.FETCH, 4, 18, fetch);
        registry.register(ApiKey.LIST_OFFSETS, 1, 11, new ListOffsetsHandler(images, shards, blockingPool));
        registry.register(ApiKey.DELETE_RECORDS, 0, 2, new DeleteRecordsHandler(images, shards));
        registry.register(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4, new OffsetForLeaderEpochHandler(images, shards));
        return fetch;
    }

    /** Gives out ids from blocks of the controller's. */
    static ProducerIds producerIds(Controller controller) {
        return new ProducerIds(() -> controller
                .allocateProducerIds(PRODUCER_ID_BLOCK_SIZE)
                .thenApply(first -> new ProducerIds.Block(first, PRODUCER_ID_BLOCK_SIZE)));
    }

    /** Idempotent producers, and transactions. */
    void registerTransactions(TransactionCoordinators ofBroker, Coordinators<GroupMachine> groups) {
        Supplier<MetadataImage> images = metadata::current;
        Coordinators<TransactionMachine> transactions = ofBroker.coordinators();
        transactionsTopic = coordinatorTopic(
                InternalTopics.TRANSACTIONS, BrokerSettings.TRANSACTION_TOPIC_PARTITIONS, transactions);
        registry.register(
                ApiKey.INIT_PRODUCER_ID,
                0,
                5,
                new InitProducerIdHandler(ofBroker.producerIds(), transactions, refusals));
        registry.register(ApiKey.ADD_PARTITIONS_TO_TXN, 0, 5, new AddPartitionsToTxnHandler(transactions, images));
        registry.register(
                ApiKey.ADD_OFFSETS_TO_TXN, 0, 4, new AddOffsetsToTxnHandler(transactions, groups, groupsTopic));
        registry.register(ApiKey.END_TXN, 0, 5, new EndTxnHandler(transactions));
        registry.register(
                ApiKey.TXN_OFFSET_COMMIT,
                0,
                5,
                new TxnOffsetCommitHandler(new CoordinatorGate(transactions), groups, images, groupRefusals));
        registry.register(ApiKey.DESCRIBE_TRANSACTIONS, 0, 0, new DescribeTransactionsHandler(transactions));
        registry.register(ApiKey.LIST_TRANSACTIONS, 0, 2, new ListTransactionsHandler(transactions, refusals));
    }

    /** The ends of transactions in partitions. */
    void registerMarkers(Shards shards, Coordinators<GroupMachine> groups) {
        Supplier<MetadataImage> images = metadata::current;
        registry.register(ApiKey.WRITE_TXN_MARKERS, 1, 2, new WriteTxnMarkersHandler(images, shards, groups));
        registry.register(ApiKey.DESCRIBE_PRODUCERS, 0, 0, new DescribeProducersHandler(images, shards));
    }

    private CoordinatorTopic coordinatorTopic(
            String topic, ConfigKey<Integer> partitions, Coordinators<?> coordinators) {
        return new CoordinatorTopic(
                InternalTopics.spec(topic, config.get(partitions)), metadata, controller, coordinators);
    }

    /** What groups and committed offsets are made of; before {@link #registerTransactions}. */
    void registerGroups(Coordinators<GroupMachine> groups) {
        groupsTopic = coordinatorTopic(InternalTopics.GROUPS, BrokerSettings.GROUP_TOPIC_PARTITIONS, groups);
        Supplier<MetadataImage> images = metadata::current;
        registry.register(ApiKey.JOIN_GROUP, 0, 9, new JoinGroupHandler(groups, groupRefusals));
        registry.register(ApiKey.SYNC_GROUP, 0, 5, new SyncGroupHandler(groups, groupRefusals));
        registry.register(ApiKey.HEARTBEAT, 0, 4, new HeartbeatHandler(groups));
        registry.register(ApiKey.LEAVE_GROUP, 0, 5, new LeaveGroupHandler(groups));
        registry.register(ApiKey.OFFSET_COMMIT, 2, 10, new OffsetCommitHandler(groups, images, groupRefusals));
        registry.register(ApiKey.OFFSET_FETCH, 1, 10, new OffsetFetchHandler(groups, images));
        registry.register(ApiKey.OFFSET_DELETE, 0, 0, new OffsetDeleteHandler(groups, images));
        registry.register(
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                0,
                1,
                new ConsumerGroupHeartbeatHandler(groups, images, groupRefusals));
        registry.register(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, new ConsumerGroupDescribeHandler(groups, images));
        registry.register(ApiKey.LIST_GROUPS, 0, 5, new ListGroupsHandler(groups));
        registry.register(ApiKey.DESCRIBE_GROUPS, 0, 6, new DescribeGroupsHandler(groups));
        registry.register(ApiKey.DELETE_GROUPS, 0, 2, new DeleteGroupsHandler(groups));
    }

    /** What describes and changes the cluster. */
    void registerAdmin(BrokerIdentity identity, LogDirectories directories, OfflineReplicas offline) {
        Supplier<MetadataImage> images = metadata::current;
        ConfigDescriber describer = new ConfigDescriber(config, images);
        EffectlessSettings effectless = new EffectlessSettings(config);
        ConfigAlteration alteration =
                new ConfigAlteration(identity.nodeId(), metadata, controller, describer, effectless);
        registry.register(
                ApiKey.FIND_COORDINATOR,
                0,
                6,
                new FindCoordinatorHandler(
                        identity,
                        Map.of(
                                FindCoordinatorHandler.GROUP,
                                groupsTopic,
                                FindCoordinatorHandler.TRANSACTION,
                                transactionsTopic)));
        CreationRefusals creationRefusals = new CreationRefusals(refusals);
        boolean autoCreate = config.get(BrokerSettings.AUTO_CREATE_TOPICS);
        registry.register(
                ApiKey.METADATA,
                0,
                13,
                new MetadataHandler(
                        identity,
                        metadata,
                        controller,
                        offline,
                        autoCreate,
                        new AutoCreationRate(config.get(BrokerSettings.AUTO_CREATE_TOPICS_MAX_RATE)),
                        creationRefusals));
        registry.register(
                ApiKey.CREATE_TOPICS,
                2,
                7,
                new CreateTopicsHandler(metadata, controller, describer, creationRefusals, effectless));
        boolean deletable = config.get(BrokerSettings.DELETE_TOPICS);
        registry.register(ApiKey.DELETE_TOPICS, 1, 6, new DeleteTopicsHandler(metadata, controller, deletable));
        registry.register(
                ApiKey.CREATE_PARTITIONS, 0, 3, new CreatePartitionsHandler(metadata, controller, creationRefusals));
        registry.register(ApiKey.DESCRIBE_CONFIGS, 1, 4, new DescribeConfigsHandler(identity, metadata, describer));
        registry.register(ApiKey.ALTER_CONFIGS, 0, 2, new AlterConfigsHandler(alteration));
        registry.register(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1, new IncrementalAlterConfigsHandler(alteration));
        registry.register(ApiKey.DESCRIBE_CLUSTER, 0, 2, new DescribeClusterHandler(identity, metadata));
        registry.register(
                ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, new DescribeTopicPartitionsHandler(metadata, offline));
        registry.register(ApiKey.DESCRIBE_LOG_DIRS, 1, 4, new DescribeLogDirsHandler(directories));
        registry.register(ApiKey.LIST_CONFIG_RESOURCES, 0, 1, new ListConfigResourcesHandler(identity, images));
        registry.register(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1, new DescribeClientQuotasHandler(images));
        registry.register(ApiKey.ALTER_CLIENT_QUOTAS, 0, 1, new AlterClientQuotasHandler(controller));
    }

    /** Users and access control, of which there is neither. */
    void registerSecurity() {
        registry.register(ApiKey.DESCRIBE_ACLS, 1, 3, new DescribeAclsHandler());
        registry.register(ApiKey.CREATE_ACLS, 1, 3, new CreateAclsHandler());
        registry.register(ApiKey.DELETE_ACLS, 1, 3, new DeleteAclsHandler());
        registry.register(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, new DescribeUserScramCredentialsHandler());
    }

    /** Metrics that clients send of themselves. */
    void registerTelemetry(Telemetry telemetry) {
        registry.register(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, 0, new GetTelemetrySubscriptionsHandler(telemetry));
        registry.register(ApiKey.PUSH_TELEMETRY, 0, 0, new PushTelemetryHandler(telemetry));
    }

    /** What a cluster of one says of leaders, replicas, its quorum and its features. */
    void registerCluster(BrokerIdentity identity, Clock clock) {
        Supplier<MetadataImage> images = metadata::current;
        registry.register(ApiKey.ELECT_LEADERS, 0, 2, new ElectLeadersHandler(images));
        registry.register(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, new AlterPartitionReassignmentsHandler(images));
        registry.register(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, new ListPartitionReassignmentsHandler());
        registry.register(ApiKey.DESCRIBE_QUORUM, 0, 2, new DescribeQuorumHandler(identity, images, clock));
        registry.register(ApiKey.UPDATE_FEATURES, 0, 2, new UpdateFeaturesHandler(images, controller));
    }
}
