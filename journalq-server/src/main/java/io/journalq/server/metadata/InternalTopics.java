package io.journalq.server.metadata;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Topics that the broker keeps for itself: the state of coordinators. Clients may read them, and not write. */
public final class InternalTopics {
    /** Groups and their committed offsets. */
    public static final String GROUPS = "__consumer_offsets";

    /** Transactions. */
    public static final String TRANSACTIONS = "__transaction_state";

    /** A batch may hold all members of a large group. */
    private static final int MAX_BATCH_BYTES = 64 << 20;

    /** Only closed segments are compacted. */
    private static final int SEGMENT_BYTES = 100 << 20;

    /** State must stay, as far as it is not replaced. */
    private static final Map<String, String> CONFIGS = configs();

    /**
     * A transactional id's epoch must never be given twice, whatever mode the topics have that it writes to: a batch of the
     * second holder would be taken for one of the first that was stored already.
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
        configs.put("delivery.mode", "consistent");
        return Collections.unmodifiableMap(configs);
    }

    /** Whether a topic of that name is the broker's own. */
    public static boolean contains(String topic) {
        return topic.equals(GROUPS) || topic.equals(TRANSACTIONS);
    }

    /** What holds for a topic unless it is set: nothing but for the broker's own. */
    static Map<String, String> defaultsOf(String topic) {
        return contains(topic) ? CONFIGS : Collections.emptyMap();
    }

    /** An internal topic as it is created. */
    public static TopicSpec spec(String topic, int partitions) {
        Map<String, String> configs = topic.equals(TRANSACTIONS) ? TRANSACTION_CONFIGS : CONFIGS;
        return new TopicSpec(topic, partitions, TopicSpec.DEFAULT, List.of(), configs);
    }
}
