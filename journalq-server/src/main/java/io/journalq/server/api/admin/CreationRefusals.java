package io.journalq.server.api.admin;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Outcome;
import io.journalq.server.loop.Limit;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.TopicNameRules;

/** Logs and counts topics and partitions that are not created. Any thread. */
public final class CreationRefusals {
    private final RefusalLog log;

    public CreationRefusals(RefusalLog log) {
        this.log = log;
    }

    /**
     * The creation of a topic, or of more partitions of it, is refused.
     *
     * @param partitions the requested number of partitions; 0 if no limit is the reason
     */
    void report(RequestContext context, String topic, int partitions, Outcome outcome) {
        Limit limit = limitOf(topic, partitions, outcome.error());
        if (outcome.error() == ErrorCode.POLICY_VIOLATION && outcome.reason().contains(StatePart.METADATA.setting())) {
            log.budgetExceeded(context, "topic", topic, outcome.error(), StatePart.METADATA);
        } else if (limit == null) {
            log.refused(context, topic, outcome.error(), outcome.reason());
        } else {
            log.limitExceeded(context, limit, "topic", topic, outcome.error());
        }
    }

    /** A topic is not created because its client exceeds the rate of auto-creation. */
    void rateExceeded(RequestContext context, String topic, ErrorCode error) {
        log.limitExceeded(context, Limit.AUTO_CREATION_RATE, "topic", topic, error);
    }

    private static Limit limitOf(String topic, int partitions, ErrorCode error) {
        return switch (error) {
            case INVALID_TOPIC_EXCEPTION -> topic.length() > TopicNameRules.MAX_LENGTH ? Limit.TOPIC_NAME : null;
            case INVALID_PARTITIONS -> partitions > 0 ? Limit.TOPIC_PARTITIONS : null;
            case POLICY_VIOLATION -> Limit.PARTITIONS;
            default -> null;
        };
    }
}
