package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.KafkaNames;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicNameRules;
import io.journalq.server.security.Right;
import java.util.List;

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
     * @param image the newest image
     */
    static Outcome problem(byte type, String name, MetadataImage image) {
        if (changeable(type) == null) {
            return refusal(
                    ErrorCode.INVALID_REQUEST,
                    "resources of type " + type
                            + " have no settings here; topics (2), brokers (4), client metrics subscriptions"
                            + " (16) and groups (32) do");
        }
        if (type == BROKER && !name.isEmpty() && !brokerNames(image).contains(name)) {
            return refusal(ErrorCode.INVALID_REQUEST, "there is no broker " + name);
        }
        String invalid = type == TOPIC ? TopicNameRules.problem(name) : null;
        if (invalid != null) {
            return refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, invalid);
        }
        if (type != BROKER && name.isEmpty()) {
            return refusal(ErrorCode.INVALID_REQUEST, "the name must not be empty");
        }
        return null;
    }

    /** Why a client may not change settings; null if it may. */
    static Outcome alterationDenial(RequestContext context, byte type, String name) {
        boolean allowed =
                switch (type) {
                    case TOPIC -> context.allows(Right.ALTER_TOPIC_CONFIGS, name);
                    case GROUP -> context.allows(Right.ALTER_GROUP_CONFIGS, name);
                    default -> context.allows(Right.ALTER_CLUSTER_CONFIGS);
                };
        return allowed ? null : refusal(denialOf(type), context.denial());
    }

    /** Why a client may not see settings; null if it may. */
    static Outcome descriptionDenial(RequestContext context, byte type, String name) {
        boolean allowed =
                switch (type) {
                    case TOPIC -> context.allows(Right.DESCRIBE_TOPIC_CONFIGS, name);
                    case GROUP -> context.allows(Right.DESCRIBE_GROUP_CONFIGS, name);
                    default -> context.allows(Right.DESCRIBE_CLUSTER_CONFIGS);
                };
        return allowed ? null : refusal(denialOf(type), context.denial());
    }

    private static ErrorCode denialOf(byte type) {
        return switch (type) {
            case TOPIC -> ErrorCode.TOPIC_AUTHORIZATION_FAILED;
            case GROUP -> ErrorCode.GROUP_AUTHORIZATION_FAILED;
            default -> ErrorCode.CLUSTER_AUTHORIZATION_FAILED;
        };
    }

    /** The names of all brokers, which are their ids. */
    static List<String> brokerNames(MetadataImage image) {
        return image.brokers().stream()
                .map(broker -> Integer.toString(broker.nodeId()))
                .toList();
    }

    static Outcome refusal(ErrorCode error, String reason) {
        return new Outcome(error, reason, null);
    }
}
