package io.journalq.server.shard;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.ReplicatedTopicRules;
import io.journalq.server.metadata.ResourceConfigs;
import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.PartitionSettings;
import java.util.HashMap;
import java.util.Map;

/**
 * The settings of the partitions of each topic: those of the topic, and otherwise those of the broker. Topics with equal
 * settings have the same object, because most topics do, and there may be very many. Used by one thread at a time, except
 * for {@link #producerExpiryMs}.
 */
final class SettingsInForce {
    /** Maximum number of distinct settings that are shared by topics. */
    private static final int MAX_SHARED = 1_000;

    private final BrokerConfig started;
    private BrokerConfig inForce;
    private final Map<Key, PartitionSettings> shared = new HashMap<>();
    private volatile long producerExpiryMs;

    /** What determines the settings of a topic, besides the broker. */
    private record Key(Map<String, String> configs, boolean internal, boolean replicated) {}

    /** @param started the settings with which the broker was started */
    SettingsInForce(BrokerConfig started) {
        this.started = started;
        this.inForce = started;
        this.producerExpiryMs = started.get(BrokerSettings.PRODUCER_ID_EXPIRATION_MS);
    }

    /** The settings of a topic's partitions. */
    PartitionSettings of(TopicImage topic) {
        if (shared.size() >= MAX_SHARED) {
            shared.clear();
        }
        return shared.computeIfAbsent(
                new Key(topic.configs(), InternalTopics.contains(topic.name()), topic.isReplicated()), this::create);
    }

    private PartitionSettings create(Key topic) {
        PartitionSettings settings = PartitionSettings.of(TopicConfig.of(inForce, topic.configs()));
        if (topic.internal()) {
            settings = settings.ofInternalTopic();
        }
        return topic.replicated()
                ? settings.ofReplicatedTopic(DeliveryMode.of(ReplicatedTopicRules.mode(topic.configs())))
                : settings;
    }

    /** Follows the settings of the broker; returns whether those of topics may have changed. */
    boolean follow(MetadataDelta delta) {
        ResourceConfigs resources = delta.now().resources();
        if (!delta.changesResources()
                || resources
                        .ofKind(Kind.BROKER)
                        .equals(delta.before().resources().ofKind(Kind.BROKER))) {
            return false;
        }
        shared.clear();
        inForce = BrokerOverrides.inForce(started, resources);
        producerExpiryMs = inForce.get(BrokerSettings.PRODUCER_ID_EXPIRATION_MS);
        return true;
    }

    /** The settings of the broker, as they are now. */
    BrokerConfig ofBroker() {
        return inForce;
    }

    /** Time after which an idle producer is forgotten. Any thread. */
    long producerExpiryMs() {
        return producerExpiryMs;
    }
}
