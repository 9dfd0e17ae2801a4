package io.journalq.server.shard.coordinator.group;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.group.consumer.GroupTimes;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The times of groups, as set in an image. Immutable, any thread. */
final class ImageGroupTimes implements GroupTimes.Lookup {
    private final GroupTimes ofOthers;
    private final SortedMap<String, GroupTimes> byGroup = new TreeMap<>();

    /** @param started the broker's settings at the start */
    ImageGroupTimes(BrokerConfig started, MetadataImage image) {
        BrokerConfig broker = BrokerOverrides.inForce(started, image.resources());
        this.ofOthers = times(broker, Map.of());
        image.resources()
                .ofKind(Kind.GROUP)
                .forEach((groupId, configs) -> byGroup.put(groupId, times(broker, configs)));
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
        return byGroup.getOrDefault(groupId, ofOthers);
    }
}
