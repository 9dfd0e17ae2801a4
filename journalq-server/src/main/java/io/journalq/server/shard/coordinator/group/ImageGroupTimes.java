package io.journalq.server.shard.coordinator.group;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.group.consumer.GroupTimes;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceConfigs;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Map;

/** The times of groups, as set in an image. Immutable, any thread. */
final class ImageGroupTimes implements GroupTimes.Lookup {
    private final BrokerConfig broker;
    private final ResourceConfigs resources;
    private final GroupTimes ofOthers;

    /** @param started the broker's settings at the start */
    ImageGroupTimes(BrokerConfig started, MetadataImage image) {
        this.resources = image.resources();
        this.broker = BrokerOverrides.inForce(started, resources);
        this.ofOthers = times(broker, Map.of());
    }

    private static GroupTimes times(BrokerConfig broker, Map<String, String> configs) {
        return new GroupTimes(
                value(broker, configs, GroupSettings.HEARTBEAT_INTERVAL_MS),
                value(broker, configs, GroupSettings.SESSION_TIMEOUT_MS),
                value(broker, configs, GroupSettings.ASSIGNMENT_INTERVAL_MS));
    }

    private static int value(BrokerConfig broker, Map<String, String> configs, ConfigKey<Integer> key) {
        return GroupSettings.effective(broker, configs, key);
    }

    @Override
    public GroupTimes of(String groupId) {
        Map<String, String> configs = resources.of(new ResourceId(Kind.GROUP, groupId));
        return configs.isEmpty() ? ofOthers : times(broker, configs);
    }
}
