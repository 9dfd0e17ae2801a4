package io.journalq.server.api.admin;

import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.admin.config.ConfigDescriber;
import io.journalq.server.api.admin.config.IneffectiveSettings;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.shard.LogDirectories;

/** Registers the handlers of the APIs that describe the cluster, and that create, describe and delete topics. */
public final class AdminHandlers {
    private AdminHandlers() {}

    /** Registers the handlers. */
    public static void register(
            HandlerRegistry registry,
            BrokerIdentity identity,
            BrokerConfig config,
            MetadataPublisher metadata,
            Controller controller,
            ConfigDescriber describer,
            IneffectiveSettings ineffective,
            LogDirectories directories,
            OfflineReplicas offline,
            RefusalLog refusals) {
        CreationRefusals creationRefusals = new CreationRefusals(refusals);
        registry.register(new MetadataHandler(
                identity,
                metadata,
                controller,
                offline,
                config.get(BrokerSettings.AUTO_CREATE_TOPICS),
                new AutoCreationLimiter(config.get(BrokerSettings.AUTO_CREATE_TOPICS_MAX_RATE)),
                creationRefusals));
        registry.register(new CreateTopicsHandler(metadata, controller, describer, creationRefusals, ineffective));
        registry.register(new DeleteTopicsHandler(metadata, controller, config.get(BrokerSettings.DELETE_TOPICS)));
        registry.register(new CreatePartitionsHandler(metadata, controller, creationRefusals));
        registry.register(new DescribeClusterHandler(identity, metadata));
        registry.register(new DescribeTopicPartitionsHandler(metadata, offline));
        registry.register(new DescribeLogDirsHandler(directories));
    }
}
