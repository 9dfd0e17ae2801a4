package io.journalq.server.api.admin.config;

import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;

/** Registers the handlers of the APIs that describe and change settings. */
public final class ConfigHandlers {
    private ConfigHandlers() {}

    /** Registers the handlers. */
    public static void register(
            HandlerRegistry registry,
            BrokerIdentity identity,
            MetadataPublisher metadata,
            Controller controller,
            ConfigDescriber describer,
            IneffectiveSettings ineffective) {
        ConfigAlteration alteration =
                new ConfigAlteration(identity.nodeId(), metadata, controller, describer, ineffective);
        registry.register(new DescribeConfigsHandler(identity, metadata, describer));
        registry.register(new AlterConfigsHandler(alteration));
        registry.register(new IncrementalAlterConfigsHandler(alteration));
        registry.register(new ListConfigResourcesHandler(identity, metadata::current));
    }
}
