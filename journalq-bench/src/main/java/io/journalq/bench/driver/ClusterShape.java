package io.journalq.bench.driver;

import java.util.Map;
import java.util.TreeMap;

/**
 * How many processes a broker consists of, and what they have in common.
 *
 * @param brokers number of brokers; a cluster if there are several
 * @param replicas number of replicas of each topic
 * @param heap heap of each broker that runs on a JVM, as in Java's options; null for its own default
 */
public record ClusterShape(int brokers, int replicas, String heap) {
    /** One broker with its own default heap. */
    public static final ClusterShape SINGLE = new ClusterShape(1, 1, null);

    public boolean isCluster() {
        return brokers > 1;
    }

    /** The number of replicas that must be in sync, so that messages are accepted with acks=all: more than half of them. */
    public int minInSync() {
        return replicas / 2 + 1;
    }

    /** The size of the heap, {@code otherwise} if none was chosen. */
    String heap(String otherwise) {
        return heap == null ? otherwise : heap;
    }

    /** The settings of each broker, by the names that JournalQ and Kafka share. Empty if there is one broker. */
    Map<String, String> brokerSettings() {
        Map<String, String> settings = new TreeMap<>();
        if (isCluster()) {
            settings.put("default.replication.factor", Integer.toString(replicas));
            settings.put("min.insync.replicas", Integer.toString(minInSync()));
        }
        return settings;
    }
}
