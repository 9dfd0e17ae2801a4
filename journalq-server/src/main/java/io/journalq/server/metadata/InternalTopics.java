package io.journalq.server.metadata;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The broker's internal topics, which store the state of coordinators. Clients may read them, but not write to them.
 */
public final class InternalTopics {
    /** Groups and their committed offsets. */
    public static final String GROUPS = "__consumer_offsets";

    /** Transactions. */
    public static final String TRANSACTIONS = "__transaction_state";

    private static final String MODE = "delivery.mode";
    private static final String MIN_IN_SYNC = "min.insync.replicas";

    /** One batch may hold all members of a large group. */
    private static final int MAX_BATCH_BYTES = 64 << 20;

    /** Only closed segments are compacted. */
    private static final int SEGMENT_BYTES = 100 << 20;

    /** State must be kept until it is replaced. */
    private static final Map<String, String> CONFIGS = configs();

    /**
     * The epoch of a transactional id must never be assigned twice, whatever the delivery mode of the topics it writes
     * to. Otherwise a batch of the second producer could be mistaken for a stored batch of the first.
     */
    private static final Map<String, String> TRANSACTION_CONFIGS = transactionConfigs();

    private InternalTopics() {}

    private static Map<String, String> configs() {
        Map<String, String> configs = new TreeMap<>();
        configs.put("cleanup.policy", "compact");
        configs.put("compression.type", "producer");
        configs.put("segment.bytes", Integer.toString(SEGMENT_BYTES));
        configs.put("retention.ms", "-1");
        configs.put("retention.bytes", "-1");
        configs.put("max.message.bytes", Integer.toString(MAX_BATCH_BYTES));
        return Collections.unmodifiableMap(configs);
    }

    private static Map<String, String> transactionConfigs() {
        Map<String, String> configs = new TreeMap<>(CONFIGS);
        configs.put(MODE, "consistent");
        return Collections.unmodifiableMap(configs);
    }

    /** Whether a topic of this name is internal. */
    public static boolean contains(String topic) {
        return topic.equals(GROUPS) || topic.equals(TRANSACTIONS);
    }

    /** The default configuration of a topic; empty except for internal topics. */
    static Map<String, String> defaultsOf(String topic) {
        return contains(topic) ? CONFIGS : Collections.emptyMap();
    }

    /** The specification for creating {@link #GROUPS}. */
    public static TopicSpec groups(int partitions, int replicationFactor) {
        return new TopicSpec(GROUPS, partitions, orDefault(replicationFactor), List.of(), CONFIGS);
    }

    /** The specification for creating {@link #TRANSACTIONS}. */
    public static TopicSpec transactions(int partitions, int replicationFactor, int minInSyncReplicas) {
        Map<String, String> configs = new TreeMap<>(TRANSACTION_CONFIGS);
        configs.put(MIN_IN_SYNC, Integer.toString(minInSyncReplicas));
        return new TopicSpec(TRANSACTIONS, partitions, orDefault(replicationFactor), List.of(), configs);
    }

    private static int orDefault(int replicationFactor) {
        return replicationFactor == 0 ? TopicSpec.DEFAULT : replicationFactor;
    }
}
