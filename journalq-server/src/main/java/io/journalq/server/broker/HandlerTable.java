package io.journalq.server.broker;

import io.journalq.server.api.ApiVersionsHandler;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.admin.AdminHandlers;
import io.journalq.server.api.admin.OfflineReplicas;
import io.journalq.server.api.data.DataHandlers;
import io.journalq.server.api.data.FetchHandler;
import io.journalq.server.api.group.CoordinatorTopic;
import io.journalq.server.api.group.GroupHandlers;
import io.journalq.server.api.peer.ForwardingHandler;
import io.journalq.server.api.peer.PeerGate;
import io.journalq.server.api.peer.PeerHandlers;
import io.journalq.server.api.security.SaslAuthenticateHandler;
import io.journalq.server.api.security.SaslHandshakeHandler;
import io.journalq.server.api.telemetry.GetTelemetrySubscriptionsHandler;
import io.journalq.server.api.telemetry.PushTelemetryHandler;
import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.api.transaction.CoordinatorGate;
import io.journalq.server.api.transaction.TransactionHandlers;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.CoordinatorSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.security.Authorizer;
import io.journalq.server.shard.LogDirectories;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.transaction.ProducerIds;
import io.journalq.server.shard.healing.DamageListener;
import io.journalq.server.transaction.TransactionMachine;
import java.time.Clock;
import java.util.concurrent.Executor;

/** Registers the handlers of all APIs, and holds what they share. */
final class HandlerTable {
    /**
     * Number of ids taken from the controller at a time: large enough to need few writes, small enough to lose few ids
     * when the broker stops.
     */
    private static final int PRODUCER_ID_BLOCK_SIZE = 1_000;

    private final HandlerRegistry registry;
    private final RefusalLog refusals = new RefusalLog();
    private final BrokerConfig config;
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final ControllerOperations activeController;
    private CoordinatorTopic groupsTopic;
    private CoordinatorTopic transactionsTopic;

    /**
     * Creates a table with the handler of ApiVersions.
     *
     * @param authorizer decides what clients may do
     * @param controller takes the operations of clients
     * @param activeController takes those of the broker
     */
    HandlerTable(
            Authorizer authorizer,
            BrokerConfig config,
            MetadataPublisher metadata,
            Controller controller,
            ControllerOperations activeController) {
        this.registry = new HandlerRegistry(authorizer);
        this.config = config;
        this.metadata = metadata;
        this.controller = controller;
        this.activeController = activeController;
        registry.register(new ApiVersionsHandler(registry, metadata::current));
        registry.register(new SaslHandshakeHandler());
        registry.register(new SaslAuthenticateHandler());
    }

    HandlerRegistry registry() {
        return registry;
    }

    /** Allocates producer ids from blocks of the controller. */
    static ProducerIds producerIds(ControllerOperations controller) {
        return new ProducerIds(() -> controller
                .allocateProducerIds(PRODUCER_ID_BLOCK_SIZE)
                .thenApply(first -> new ProducerIds.Block(first, PRODUCER_ID_BLOCK_SIZE)));
    }

    /**
     * Registers the handlers that do not need the addresses of the broker.
     *
     * @param verifications asks the coordinators of transactions on other brokers; null for a broker that is alone
     * @param damage learns of damage that reads meet
     * @param gate admits the fetches of other brokers; null for a broker that is alone
     * @return the handler of fetches, because parked fetches end when the broker stops
     */
    FetchHandler register(
            Shards shards,
            Executor blockingPool,
            Coordinators<GroupMachine> groups,
            Coordinators<TransactionMachine> transactions,
            ProducerIds producerIds,
            PeerRequests verifications,
            Telemetry telemetry,
            MemoryAccount sessionMemory,
            DamageListener damage,
            PeerGate gate) {
        int nodeId = config.get(BrokerSettings.NODE_ID);
        CoordinatorGate transactionGate = new CoordinatorGate(transactions, metadata::current, nodeId, verifications);
        groupsTopic = topic(
                InternalTopics.groups(
                        config.get(CoordinatorSettings.GROUP_TOPIC_PARTITIONS),
                        config.get(CoordinatorSettings.GROUP_TOPIC_REPLICATION_FACTOR)),
                groups);
        transactionsTopic = topic(
                InternalTopics.transactions(
                        config.get(CoordinatorSettings.TRANSACTION_TOPIC_PARTITIONS),
                        config.get(CoordinatorSettings.TRANSACTION_TOPIC_REPLICATION_FACTOR),
                        config.get(CoordinatorSettings.TRANSACTION_TOPIC_MIN_ISR)),
                transactions);
        GroupHandlers.register(registry, metadata::current, groups, refusals);
        TransactionHandlers.register(
                registry, metadata::current, producerIds, transactions, transactionGate, groups, groupsTopic, refusals);
        registry.register(new GetTelemetrySubscriptionsHandler(telemetry));
        registry.register(new PushTelemetryHandler(telemetry));
        return DataHandlers.register(
                registry,
                config,
                new ClusterBrokers(nodeId, metadata::current),
                metadata::newest,
                shards,
                blockingPool,
                transactionGate,
                groups,
                refusals,
                sessionMemory,
                damage,
                gate);
    }

    /** Registers the handlers that describe the broker and the cluster. */
    void describe(ClusterBrokers brokers, LogDirectories directories, OfflineReplicas offline, Clock clock) {
        GroupHandlers.registerDiscovery(registry, brokers, groupsTopic, transactionsTopic);
        AdminHandlers.register(
                registry,
                brokers,
                config,
                metadata,
                controller,
                activeController,
                directories,
                offline,
                refusals,
                clock);
    }

    /**
     * Registers what a broker of a cluster serves besides that. Called last.
     *
     * @param gate lets requests of other brokers pass
     */
    void join(ForwardingHandler.Forwarder forwarder, PeerGate gate) {
        PeerHandlers.register(
                registry,
                metadata::current,
                controller,
                gate,
                forwarder,
                PRODUCER_ID_BLOCK_SIZE,
                config.get(BrokerSettings.REQUEST_MAX_ENTRIES));
    }

    private CoordinatorTopic topic(TopicSpec spec, Coordinators<?> coordinators) {
        return new CoordinatorTopic(spec, metadata, activeController, coordinators);
    }
}
