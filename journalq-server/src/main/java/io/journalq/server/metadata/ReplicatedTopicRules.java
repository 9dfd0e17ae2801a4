package io.journalq.server.metadata;

import io.journalq.server.config.TopicSettings;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.ConfigRecord;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What holds for topics with several replicas. Their delivery mode is always in their configuration: all replicas and the
 * controller must agree on what an acknowledgement means, whatever the default of a broker is. Stateless.
 */
public final class ReplicatedTopicRules {
    /** The delivery mode in which replicas acknowledge only what is on their disks, as it is spelled in settings. */
    public static final String CONSISTENT = "consistent";

    /** The delivery mode of new topics with several replicas. */
    static final String DEFAULT_MODE = "eventual";

    private static final String MODE = TopicSettings.DELIVERY_MODE.name();
    private static final String EACH_MESSAGE = "1";
    private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,4}");

    private ReplicatedTopicRules() {}

    /** The configuration of a new topic: the default of its broker can be another mode. */
    static Map<String, String> withMode(Map<String, String> configs) {
        Map<String, String> all = new TreeMap<>(configs);
        all.putIfAbsent(MODE, mode(configs));
        return all;
    }

    /** The record that gives a topic without a mode the one that it has by default. */
    static ConfigRecord modeRecord(TopicImage topic, String defaultMode) {
        return new ConfigRecord().setTopicId(topic.id()).setName(MODE).setValue(mode(topic.configs(), defaultMode));
    }

    /** The delivery mode of a topic with this configuration, as it is spelled in settings. */
    public static String mode(Map<String, String> configs) {
        return mode(configs, DEFAULT_MODE);
    }

    private static String mode(Map<String, String> configs, String defaultMode) {
        String interval = configs.get(TopicSettings.FLUSH_MESSAGES.name());
        if (interval != null && interval.strip().equals(EACH_MESSAGE)) {
            return CONSISTENT;
        }
        String mode = configs.get(MODE);
        return mode == null ? defaultMode : mode.strip().toLowerCase(Locale.ROOT);
    }

    /** Whether replicas acknowledge only what is on their disks. */
    static boolean isConsistent(Map<String, String> configs) {
        return mode(configs).equals(CONSISTENT);
    }

    /** Whether a topic with these settings lacks what one with several replicas needs. */
    static boolean lacksMode(Map<String, String> configs) {
        return !configs.containsKey(MODE);
    }

    /**
     * Why a topic with several replicas cannot have other settings; null if it can. A follower of a topic in another mode
     * has acknowledged what is in its page cache. In mode consistent, its leader and the controller would take that for
     * safe. An internal topic that had one replica first sets no mode, and keeps {@link #DEFAULT_MODE}.
     */
    static String problem(Map<String, String> before, Map<String, String> after) {
        if (lacksMode(after) && !lacksMode(before)) {
            return "a topic with several replicas must set " + MODE + ": its brokers can have different defaults";
        }
        return isConsistent(after) && !isConsistent(before)
                ? MODE + " of a topic with several replicas cannot become " + CONSISTENT
                        + ": create another topic with " + MODE + "=" + CONSISTENT + ", and copy the records"
                : null;
    }

    /**
     * Number of in-sync replicas without which nothing is acknowledged that waits for all of them.
     *
     * @param minInSync what the topic demands. There can be fewer replicas
     * @param isConsistent whether the topic is in mode consistent, which needs a majority
     */
    public static int requiredInSync(int minInSync, int replicas, boolean isConsistent) {
        int required = Math.min(minInSync, replicas);
        return isConsistent ? Math.max(required, replicas / 2 + 1) : required;
    }

    /**
     * Number of in-sync replicas without which nothing is acknowledged, at least. A smaller number than the leader
     * requires is safe: then fewer nodes are eligible. Replicas that a reassignment adds do not count.
     */
    static int requiredInSync(TopicImage topic, PartitionImage partition) {
        return requiredInSync(topic, partition.originalReplicas().size());
    }

    static int requiredInSync(TopicImage topic, int replicas) {
        String text = topic.configs().get(TopicSettings.MIN_INSYNC_REPLICAS.name());
        int minInSync = text == null || !NUMBER.matcher(text).matches() ? 1 : Integer.parseInt(text);
        return requiredInSync(minInSync, replicas, isConsistent(topic.configs()));
    }
}
