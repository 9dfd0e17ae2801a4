package io.journalq.server.broker;

import io.journalq.server.api.ApiVersionsHandler;
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.admin.AutoCreationRate;
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
import io.journalq.server.shard.coordinator.transaction.ProducerIds;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
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
        registry.register(new ApiVersionsHandler(registry, metadata::current));
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
        registry.register(new ProduceHandler(images, shards, transactions, refusals));
        registry.register(fetch);
        registry.register(new ListOffsetsHandler(images, shards, blockingPool));
        registry.register(new DeleteRecordsHandler(images, shards));
        registry.register(new OffsetForLeaderEpochHandler(images, shards));
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
        registry.register(new InitProducerIdHandler(ofBroker.producerIds(), transactions, refusals));
        registry.register(new AddPartitionsToTxnHandler(transactions, images));
        registry.register(new AddOffsetsToTxnHandler(transactions, groups, groupsTopic));
        registry.register(new EndTxnHandler(transactions));
        registry.register(new TxnOffsetCommitHandler(new CoordinatorGate(transactions), groups, images, groupRefusals));
        registry.register(new DescribeTransactionsHandler(transactions));
        registry.register(new ListTransactionsHandler(transactions, refusals));
    }

    /** The ends of transactions in partitions. */
    void registerMarkers(Shards shards, Coordinators<GroupMachine> groups) {
        Supplier<MetadataImage> images = metadata::current;
        registry.register(new WriteTxnMarkersHandler(images, shards, groups));
        registry.register(new DescribeProducersHandler(images, shards));
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
        registry.register(new JoinGroupHandler(groups, groupRefusals));
        registry.register(new SyncGroupHandler(groups, groupRefusals));
        registry.register(new HeartbeatHandler(groups));
        registry.register(new LeaveGroupHandler(groups));
        registry.register(new OffsetCommitHandler(groups, images, groupRefusals));
        registry.register(new OffsetFetchHandler(groups, images));
        registry.register(new OffsetDeleteHandler(groups, images));
        registry.register(new ConsumerGroupHeartbeatHandler(groups, images, groupRefusals));
        registry.register(new ConsumerGroupDescribeHandler(groups, images));
        registry.register(new ListGroupsHandler(groups));
        registry.register(new DescribeGroupsHandler(groups));
        registry.register(new DeleteGroupsHandler(groups));
    }

    /** What describes and changes the cluster. */
    void registerAdmin(BrokerIdentity identity, LogDirectories directories, OfflineReplicas offline) {
        Supplier<MetadataImage> images = metadata::current;
        ConfigDescriber describer = new ConfigDescriber(config, images);
        EffectlessSettings effectless = new EffectlessSettings(config);
        ConfigAlteration alteration =
                new ConfigAlteration(identity.nodeId(), metadata, controller, describer, effectless);
        registry.register(new FindCoordinatorHandler(
                identity,
                Map.of(
                        FindCoordinatorHandler.GROUP,
                        groupsTopic,
                        FindCoordinatorHandler.TRANSACTION,
                        transactionsTopic)));
        CreationRefusals creationRefusals = new CreationRefusals(refusals);
        boolean autoCreate = config.get(BrokerSettings.AUTO_CREATE_TOPICS);
        registry.register(new MetadataHandler(
                identity,
                metadata,
                controller,
                offline,
                autoCreate,
                new AutoCreationRate(config.get(BrokerSettings.AUTO_CREATE_TOPICS_MAX_RATE)),
                creationRefusals));
        registry.register(new CreateTopicsHandler(metadata, controller, describer, creationRefusals, effectless));
        boolean deletable = config.get(BrokerSettings.DELETE_TOPICS);
        registry.register(new DeleteTopicsHandler(metadata, controller, deletable));
        registry.register(new CreatePartitionsHandler(metadata, controller, creationRefusals));
        registry.register(new DescribeConfigsHandler(identity, metadata, describer));
        registry.register(new AlterConfigsHandler(alteration));
        registry.register(new IncrementalAlterConfigsHandler(alteration));
        registry.register(new DescribeClusterHandler(identity, metadata));
        registry.register(new DescribeTopicPartitionsHandler(metadata, offline));
        registry.register(new DescribeLogDirsHandler(directories));
        registry.register(new ListConfigResourcesHandler(identity, images));
        registry.register(new DescribeClientQuotasHandler(images));
        registry.register(new AlterClientQuotasHandler(controller));
    }

    /** Users and access control. There is neither yet. */
    void registerSecurity() {
        registry.register(new DescribeAclsHandler());
        registry.register(new CreateAclsHandler());
        registry.register(new DeleteAclsHandler());
        registry.register(new DescribeUserScramCredentialsHandler());
    }

    /** Metrics that clients send of themselves. */
    void registerTelemetry(Telemetry telemetry) {
        registry.register(new GetTelemetrySubscriptionsHandler(telemetry));
        registry.register(new PushTelemetryHandler(telemetry));
    }

    /** What a cluster of one says of leaders, replicas, its quorum and its features. */
    void registerCluster(BrokerIdentity identity, Clock clock) {
        Supplier<MetadataImage> images = metadata::current;
        registry.register(new ElectLeadersHandler(images));
        registry.register(new AlterPartitionReassignmentsHandler(images));
        registry.register(new ListPartitionReassignmentsHandler());
        registry.register(new DescribeQuorumHandler(identity, images, clock));
        registry.register(new UpdateFeaturesHandler(images, controller));
    }
}
