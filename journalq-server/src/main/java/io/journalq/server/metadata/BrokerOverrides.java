package io.journalq.server.metadata;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Map;

/** The effective settings of a broker: its settings at the start, overridden by later changes. Pure functions. */
public final class BrokerOverrides {
    /** The overrides for all brokers. */
    public static final ResourceId EVERY_BROKER = new ResourceId(Kind.BROKER, "");

    private BrokerOverrides() {}

    /** The overrides for the broker with this node id. */
    public static ResourceId of(int nodeId) {
        return new ResourceId(Kind.BROKER, Integer.toString(nodeId));
    }

    /**
     * {@code started}, overridden by the settings in {@code resources} for all brokers, and those by the settings for
     * this one.
     */
    public static BrokerConfig inForce(BrokerConfig started, ResourceConfigs resources) {
        return inForce(started, resources, started.get(BrokerSettings.NODE_ID));
    }

    /** As {@link #inForce(BrokerConfig, ResourceConfigs)}, on a broker that was started with the same settings. */
    public static BrokerConfig inForce(BrokerConfig started, ResourceConfigs resources, int nodeId) {
        return ofBroker(ofEveryBroker(started, resources), resources, of(nodeId));
    }

    /** {@code started}, overridden by the settings in {@code resources} for all brokers. */
    public static BrokerConfig ofEveryBroker(BrokerConfig started, ResourceConfigs resources) {
        return with(started, resources.of(EVERY_BROKER), ConfigOrigin.DYNAMIC_DEFAULT);
    }

    /** {@code ofEvery}, overridden by the settings in {@code resources} for one broker. */
    public static BrokerConfig ofBroker(BrokerConfig ofEvery, ResourceConfigs resources, ResourceId broker) {
        return with(ofEvery, resources.of(broker), ConfigOrigin.DYNAMIC_BROKER);
    }

    private static BrokerConfig with(BrokerConfig below, Map<String, String> configs, ConfigOrigin origin) {
        BrokerConfig config = below;
        for (Map.Entry<String, String> one : configs.entrySet()) {
            if (BrokerSettings.DYNAMIC.find(one.getKey()) != null) {
                config = with(config, one.getKey(), one.getValue(), origin);
            }
        }
        return config;
    }

    private static BrokerConfig with(BrokerConfig below, String name, String value, ConfigOrigin origin) {
        try {
            return below.with(name, value, origin);
        } catch (ConfigException ofAnotherRelease) {
            // It was validated when it was set, by a release with a different range.
            return below;
        }
    }
}
