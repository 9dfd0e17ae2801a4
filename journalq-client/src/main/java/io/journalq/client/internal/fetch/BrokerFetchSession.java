package io.journalq.client.internal.fetch;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.message.FetchRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The incremental fetch session with one broker. Requests list only the partitions that have changed (KIP-227). Belongs
 * to the event loop, except for the number of unconsumed responses.
 */
final class BrokerFetchSession {
    private static final int NO_SESSION = 0;
    private static final int FULL_REQUEST_EPOCH = 0;
    private static final short FIRST_VERSION_WITH_SESSIONS = 7;
    private static final short FIRST_VERSION_WITH_LAST_FETCHED_EPOCHS = 12;

    final int nodeId;
    /** The number of responses that the consumer has not consumed. The thread of the consumer decrements it. */
    final AtomicInteger unconsumed = new AtomicInteger();
    /** Whether the loop has stopped fetching because of unconsumed responses. */
    volatile boolean full;

    private final Map<TopicPartition, FetchTarget> targets = new LinkedHashMap<>();
    private final Set<TopicPartition> changed = new LinkedHashSet<>();
    private final Set<TopicPartition> forgotten = new LinkedHashSet<>();
    private int sessionId = NO_SESSION;
    private int epoch = FULL_REQUEST_EPOCH;
    boolean inFlight;

    BrokerFetchSession(int nodeId) {
        this.nodeId = nodeId;
    }

    boolean isEmpty() {
        return targets.isEmpty();
    }

    /** Adds a partition, or notes that its parameters have changed. */
    void put(FetchTarget target) {
        target.node = nodeId;
        targets.put(target.id, target);
        forgotten.remove(target.id);
        changed.add(target.id);
    }

    void remove(FetchTarget target) {
        if (targets.remove(target.id) != null) {
            changed.remove(target.id);
            forgotten.add(target.id);
        }
        target.node = -1;
    }

    /** Discards the session. The next request lists all partitions. */
    void reset() {
        sessionId = NO_SESSION;
        epoch = FULL_REQUEST_EPOCH;
        forgotten.clear();
        changed.addAll(targets.keySet());
    }

    /** Handles a response that accepted the last request. */
    void accepted(int givenSessionId) {
        if (givenSessionId == NO_SESSION) {
            reset();
        } else {
            sessionId = givenSessionId;
            epoch = epoch == Integer.MAX_VALUE ? 1 : epoch + 1;
        }
    }

    /**
     * Fills in the partitions to request, and marks them as sent. If the broker does not support sessions, each request
     * lists all partitions.
     */
    void fill(FetchRequest request, int partitionMaxBytes, short version) {
        boolean withSession = version >= FIRST_VERSION_WITH_SESSIONS;
        if (!withSession) {
            reset();
        }
        Map<String, FetchRequest.FetchTopic> topics = new LinkedHashMap<>();
        for (TopicPartition id : changed) {
            FetchTarget target = targets.get(id);
            target.askedGeneration = target.generation;
            FetchRequest.FetchPartition asked = new FetchRequest.FetchPartition()
                    .setPartition(id.partition())
                    .setCurrentLeaderEpoch(target.leaderEpoch)
                    .setFetchOffset(target.offset)
                    .setPartitionMaxBytes(partitionMaxBytes);
            if (version >= FIRST_VERSION_WITH_LAST_FETCHED_EPOCHS) {
                asked.setLastFetchedEpoch(target.lastFetchedEpoch);
            }
            topics.computeIfAbsent(id.topic(), BrokerFetchSession::topic)
                    .partitions()
                    .add(asked);
        }
        changed.clear();
        request.setTopics(new ArrayList<>(topics.values()));
        if (!withSession) {
            return;
        }
        Map<String, List<Integer>> dropped = new LinkedHashMap<>();
        for (TopicPartition id : forgotten) {
            dropped.computeIfAbsent(id.topic(), topic -> new ArrayList<>()).add(id.partition());
        }
        List<FetchRequest.ForgottenTopic> forgottenTopics = new ArrayList<>();
        dropped.forEach((topic, partitions) -> forgottenTopics.add(
                new FetchRequest.ForgottenTopic().setTopic(topic).setPartitions(partitions)));
        request.setForgottenTopicsData(forgottenTopics).setSessionId(sessionId).setSessionEpoch(epoch);
        forgotten.clear();
    }

    private static FetchRequest.FetchTopic topic(String name) {
        return new FetchRequest.FetchTopic().setTopic(name).setPartitions(new ArrayList<>());
    }
}
