package io.journalq.server.metadata;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Map;

/** A broker's settings as they are in force: those that it was started with, and what was changed since. Pure functions. */
public final class BrokerOverrides {
    /** What is set for all brokers. */
    public static final ResourceId EVERY_BROKER = new ResourceId(Kind.BROKER, "");

    private BrokerOverrides() {}

    /** What is set for the broker of that number alone. */
    public static ResourceId of(int nodeId) {
        return new ResourceId(Kind.BROKER, Integer.toString(nodeId));
    }

    /** {@code started} with what {@code resources} sets for all brokers, and above that with what it sets for this one. */
    public static BrokerConfig inForce(BrokerConfig started, ResourceConfigs resources) {
        BrokerConfig config = with(started, resources.of(EVERY_BROKER), ConfigOrigin.DYNAMIC_DEFAULT);
        return with(config, resources.of(of(started.get(BrokerSettings.NODE_ID))), ConfigOrigin.DYNAMIC_BROKER);
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
            // Checked when it was set, by a release whose range was another.
            return below;
        }
    }
}
