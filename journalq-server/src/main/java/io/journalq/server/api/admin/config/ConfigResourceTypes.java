package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.KafkaNames;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.control.Outcome;

/**
 * The types of resources that have settings, by their number on the wire, and the settings of each type that can be
 * changed.
 */
final class ConfigResourceTypes {
    static final byte TOPIC = 2;
    static final byte BROKER = 4;
    static final byte BROKER_LOGGER = 8;
    static final byte CLIENT_METRICS = 16;
    static final byte GROUP = 32;

    private ConfigResourceTypes() {}

    /** The settings of a type that can be changed; null if the type has none. */
    static ConfigKeys changeable(byte type) {
        return switch (type) {
            case TOPIC -> TopicSettings.ALL;
            case BROKER -> BrokerSettings.DYNAMIC;
            case CLIENT_METRICS -> ClientMetricsSettings.ALL;
            case GROUP -> GroupSettings.ALL;
            default -> null;
        };
    }

    /** Kafka's other names for the settings of a type. */
    static KafkaNames kafkaNames(byte type) {
        return switch (type) {
            case TOPIC -> KafkaNames.OF_TOPICS;
            case BROKER -> KafkaNames.OF_BROKERS;
            default -> KafkaNames.NONE;
        };
    }

    /**
     * Returns why a resource of that name has no settings; null if it may have some.
     *
     * @param nodeId this broker
     */
    static Outcome problem(byte type, String name, int nodeId) {
        if (changeable(type) == null) {
            return refusal(
                    ErrorCode.INVALID_REQUEST,
                    "resources of type " + type
                            + " have no settings here; topics (2), brokers (4), client metrics subscriptions"
                            + " (16) and groups (32) do");
        }
        if (type == BROKER && !name.isEmpty() && !name.equals(Integer.toString(nodeId))) {
            return refusal(ErrorCode.INVALID_REQUEST, "this is broker " + nodeId + ", not " + name);
        }
        if (type != BROKER && name.isEmpty()) {
            return refusal(
                    type == TOPIC ? ErrorCode.INVALID_TOPIC_EXCEPTION : ErrorCode.INVALID_REQUEST,
                    "the name must not be empty");
        }
        return null;
    }

    static Outcome refusal(ErrorCode error, String reason) {
        return new Outcome(error, reason, null);
    }
}
