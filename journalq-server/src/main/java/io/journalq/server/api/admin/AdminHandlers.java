package io.journalq.server.api.admin;

import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.admin.cluster.AddRaftVoterHandler;
import io.journalq.server.api.admin.cluster.AlterPartitionReassignmentsHandler;
import io.journalq.server.api.admin.cluster.DescribeQuorumHandler;
import io.journalq.server.api.admin.cluster.ElectLeadersHandler;
import io.journalq.server.api.admin.cluster.ListPartitionReassignmentsHandler;
import io.journalq.server.api.admin.cluster.RemoveRaftVoterHandler;
import io.journalq.server.api.admin.cluster.UnregisterBrokerHandler;
import io.journalq.server.api.admin.cluster.UpdateFeaturesHandler;
import io.journalq.server.api.admin.config.AlterConfigsHandler;
import io.journalq.server.api.admin.config.ConfigAlteration;
import io.journalq.server.api.admin.config.ConfigDescriber;
import io.journalq.server.api.admin.config.DescribeConfigsHandler;
import io.journalq.server.api.admin.config.IncrementalAlterConfigsHandler;
import io.journalq.server.api.admin.config.IneffectiveSettings;
import io.journalq.server.api.admin.config.ListConfigResourcesHandler;
import io.journalq.server.api.admin.quota.AlterClientQuotasHandler;
import io.journalq.server.api.admin.quota.DescribeClientQuotasHandler;
import io.journalq.server.api.admin.security.AlterUserScramCredentialsHandler;
import io.journalq.server.api.admin.security.CreateAclsHandler;
import io.journalq.server.api.admin.security.DeleteAclsHandler;
import io.journalq.server.api.admin.security.DescribeAclsHandler;
import io.journalq.server.api.admin.security.DescribeUserScramCredentialsHandler;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.shard.LogDirectories;
import java.time.Clock;

/** Registers the handlers of the administrative APIs: topics, settings, quotas, the cluster, and security. */
public final class AdminHandlers {
    private AdminHandlers() {}

    /**
     * Registers the handlers.
     *
     * @param controller takes the operations of clients
     * @param activeController creates topics that clients use
     */
    public static void register(
            HandlerRegistry registry,
            ClusterBrokers brokers,
            BrokerConfig config,
            MetadataPublisher metadata,
            Controller controller,
            ControllerOperations activeController,
            LogDirectories directories,
            OfflineReplicas offline,
            RefusalLog refusals,
            Clock clock) {
        ConfigDescriber describer = new ConfigDescriber(config, metadata::current);
        IneffectiveSettings ineffective = new IneffectiveSettings(config);
        CreationRefusals creationRefusals = new CreationRefusals(refusals);
        registry.register(new MetadataHandler(
                brokers,
                metadata,
                controller,
                activeController,
                offline,
                config.get(BrokerSettings.AUTO_CREATE_TOPICS),
                new AutoCreationLimiter(config.get(BrokerSettings.AUTO_CREATE_TOPICS_MAX_RATE)),
                creationRefusals));
        registry.register(new CreateTopicsHandler(metadata, controller, describer, creationRefusals, ineffective));
        registry.register(new DeleteTopicsHandler(metadata, controller, config.get(BrokerSettings.DELETE_TOPICS)));
        registry.register(new CreatePartitionsHandler(metadata, controller, creationRefusals));
        registry.register(new DescribeClusterHandler(brokers, controller));
        registry.register(new DescribeTopicPartitionsHandler(metadata, offline));
        registry.register(new DescribeLogDirsHandler(directories));
        registerConfigs(registry, brokers, metadata, controller, describer, ineffective);
        registry.register(new DescribeClientQuotasHandler(metadata::current));
        registry.register(new AlterClientQuotasHandler(controller));
        registry.register(new ElectLeadersHandler(metadata::current, controller));
        registry.register(new AlterPartitionReassignmentsHandler(controller));
        registry.register(new ListPartitionReassignmentsHandler(controller));
        registry.register(new DescribeQuorumHandler(brokers, controller, clock));
        registry.register(new UnregisterBrokerHandler(controller));
        registry.register(new AddRaftVoterHandler(metadata::current, controller));
        registry.register(new RemoveRaftVoterHandler(metadata::current, controller));
        registry.register(new UpdateFeaturesHandler(metadata::current, controller));
        registry.register(new DescribeAclsHandler(metadata::current));
        registry.register(new CreateAclsHandler(controller));
        registry.register(new DeleteAclsHandler(metadata::current, controller));
        registry.register(new DescribeUserScramCredentialsHandler(metadata::current));
        registry.register(new AlterUserScramCredentialsHandler(controller));
    }

    private static void registerConfigs(
            HandlerRegistry registry,
            ClusterBrokers brokers,
            MetadataPublisher metadata,
            Controller controller,
            ConfigDescriber describer,
            IneffectiveSettings ineffective) {
        ConfigAlteration alteration = new ConfigAlteration(brokers.images(), controller, describer, ineffective);
        registry.register(new DescribeConfigsHandler(brokers, metadata, describer));
        registry.register(new AlterConfigsHandler(alteration));
        registry.register(new IncrementalAlterConfigsHandler(alteration));
        registry.register(new ListConfigResourcesHandler(metadata::current));
    }
}
