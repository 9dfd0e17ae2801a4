package io.journalq.server.metadata;

import io.journalq.server.config.TopicSettings;
import java.util.Map;
import java.util.TreeMap;

/**
 * What topics with several replicas may have in their configurations. They are in delivery mode {@code eventual}, because
 * followers do not acknowledge by other modes yet. Stateless.
 */
final class ReplicatedTopicRules {
    private static final String MODE = TopicSettings.DELIVERY_MODE.name();
    private static final String SUPPORTED = "eventual";
    private static final String EACH_MESSAGE = "1";

    private ReplicatedTopicRules() {}

    /** The configuration of a new topic: the default of its broker can be another mode. */
    static Map<String, String> withMode(Map<String, String> configs) {
        Map<String, String> all = new TreeMap<>(configs);
        all.putIfAbsent(MODE, SUPPORTED);
        return all;
    }

    /** Why a topic with several replicas cannot have these settings; null if it can. */
    static String problem(Map<String, String> configs) {
        String mode = configs.get(MODE);
        if (mode == null || !mode.strip().equalsIgnoreCase(SUPPORTED)) {
            return "a topic with several replicas must have " + MODE + "=" + SUPPORTED + ", not "
                    + (mode == null ? "the default of its broker" : mode)
                    + ": the other modes support one replica only";
        }
        String interval = configs.get(TopicSettings.FLUSH_MESSAGES.name());
        return interval != null && interval.strip().equals(EACH_MESSAGE)
                ? "a topic with several replicas must not have " + TopicSettings.FLUSH_MESSAGES + "=1, which is another"
                        + " name of " + MODE + "=consistent: that mode supports one replica only"
                : null;
    }
}
