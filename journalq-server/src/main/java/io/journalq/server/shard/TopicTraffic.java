package io.journalq.server.shard;

import io.journalq.common.id.Uuid;
import io.journalq.server.loop.TopicCounters;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The counters of all topics. A limited number of topics have counters of their own; the others share one, so that
 * neither memory nor the number of series grows with every topic. A topic keeps its counters until it is deleted, so
 * that no series ever decreases.
 *
 * <p>{@link #byTopic} and {@link #sharing} may be called on any thread, the other methods by one thread at a time.
 */
public final class TopicTraffic {
    /** Stands for the topics that share counters. No topic can have this name. */
    public static final String OTHER_TOPICS = "(other)";

    private final int maxTopics;
    private final int loops;
    private final Map<Uuid, Counted> counted = new ConcurrentHashMap<>();
    private final TopicCounters shared;
    private volatile int sharing;

    private record Counted(String topic, TopicCounters counters) {}

    /**
     * Creates counters for no topic.
     *
     * @param maxTopics maximum number of topics with counters of their own
     * @param loops number of event loops
     */
    TopicTraffic(int maxTopics, int loops) {
        this.maxTopics = maxTopics;
        this.loops = loops;
        this.shared = new TopicCounters(loops);
    }

    /** Adds a topic that was not added before. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    TopicCounters add(Uuid topicId, String topic) {
        if (counted.size() >= maxTopics) {
            sharing++;
            return shared;
        }
        TopicCounters counters = new TopicCounters(loops);
        counted.put(topicId, new Counted(topic, counters));
        return counters;
    }

    /** The counters of a topic that was added. */
    TopicCounters of(Uuid topicId) {
        Counted own = counted.get(topicId);
        return own == null ? shared : own.counters();
    }

    /** Removes a deleted topic. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    void remove(Uuid topicId) {
        if (counted.remove(topicId) == null) {
            sharing--;
        }
    }

    /** Number of topics without counters of their own. */
    public int sharing() {
        return sharing;
    }

    /** The counters by name of topic, and those of {@link #OTHER_TOPICS} if topics share counters. */
    public SortedMap<String, TopicCounters> byTopic() {
        // For a moment, a topic that is created again under the same name exists twice.
        SortedMap<String, TopicCounters> byTopic = new TreeMap<>();
        counted.values().forEach(own -> byTopic.put(own.topic(), own.counters()));
        if (sharing > 0 || shared.appendedRecords() > 0 || shared.fetchedRecords() > 0) {
            byTopic.put(OTHER_TOPICS, shared);
        }
        return byTopic;
    }
}
