package io.journalq.server.api.admin.config;

import io.journalq.server.api.Feature;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.MetadataMachine.ResourceRules;
import io.journalq.server.metadata.ReplicatedTopicRules;
import io.journalq.server.metadata.ResourceConfigs;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Map;

/** The valid settings of groups, client metrics subscriptions, brokers and features. Immutable, any thread. */
public final class ConfigRules implements ResourceRules {
    private final BrokerConfig broker;

    /**
     * Creates the rules.
     *
     * @param broker the settings that the broker was started with, which contain the ranges of group settings
     */
    public ConfigRules(BrokerConfig broker) {
        this.broker = broker;
    }

    @Override
    public String problem(ResourceId resource, Map<String, String> configs, ResourceConfigs others) {
        try {
            switch (resource.kind()) {
                case GROUP -> {
                    return GroupSettings.problem(broker, configs);
                }
                case CLIENT_METRICS -> checkClientMetrics(configs);
                case BROKER -> checkBroker(resource, configs, others);
                case FEATURE -> {
                    Feature feature = Feature.named(resource.name());
                    return feature == null ? "there is no feature '" + resource.name() + "'" : feature.problem(configs);
                }
            }
            return null;
        } catch (ConfigException wrong) {
            return wrong.getMessage();
        }
    }

    /** The static settings of the other brokers are not known: they should be those of this one. */
    @Override
    public String defaultMode(ResourceConfigs resources, int nodeId) {
        BrokerConfig inForce = BrokerOverrides.inForce(broker, resources, nodeId);
        return inForce.get(TopicSettings.FLUSH_MESSAGES) == 1
                ? ReplicatedTopicRules.CONSISTENT
                : inForce.get(TopicSettings.DELIVERY_MODE);
    }

    private static void checkClientMetrics(Map<String, String> configs) throws ConfigException {
        for (Map.Entry<String, String> config : configs.entrySet()) {
            ClientMetricsSettings.ALL.parse(config.getKey(), config.getValue());
        }
        String match = configs.getOrDefault(ClientMetricsSettings.MATCH.name(), "");
        Map<String, String> patterns = ClientMetricsSettings.patterns(ClientMetricsSettings.MATCH.parse(match));
        for (Map.Entry<String, String> pattern : patterns.entrySet()) {
            try {
                BoundedPattern.compile(pattern.getValue());
            } catch (IllegalArgumentException wrong) {
                throw new ConfigException("Invalid value for " + ClientMetricsSettings.MATCH + ": the pattern of "
                        + pattern.getKey() + " is none: " + wrong.getMessage());
            }
        }
    }

    private void checkBroker(ResourceId resource, Map<String, String> configs, ResourceConfigs others)
            throws ConfigException {
        boolean isOfAll = resource.equals(BrokerOverrides.EVERY_BROKER);
        BrokerConfig changed = isOfAll ? broker : BrokerOverrides.ofEveryBroker(broker, others);
        for (Map.Entry<String, String> config : configs.entrySet()) {
            BrokerSettings.DYNAMIC.parse(config.getKey(), config.getValue());
            changed = changed.with(config.getKey(), config.getValue(), ConfigOrigin.DYNAMIC_BROKER);
        }
        BrokerConfigLoader.checkGroupTimes(changed);
        if (isOfAll) {
            checkGroupTimesOfEach(changed, others);
        }
    }

    /** A broker can have one of the times of its own, and the other one of all brokers. */
    private static void checkGroupTimesOfEach(BrokerConfig ofEvery, ResourceConfigs others) throws ConfigException {
        for (String name : others.ofKind(Kind.BROKER).keySet()) {
            ResourceId one = new ResourceId(Kind.BROKER, name);
            if (!one.equals(BrokerOverrides.EVERY_BROKER)) {
                try {
                    BrokerConfigLoader.checkGroupTimes(BrokerOverrides.ofBroker(ofEvery, others, one));
                } catch (ConfigException wrong) {
                    throw new ConfigException("On broker " + name + ": " + wrong.getMessage());
                }
            }
        }
    }
}
