package io.journalq.server.group;

import java.util.Map;
import java.util.TreeMap;

/** The committed offsets of one group, and those that transactions have not decided on. */
final class GroupOffsets {
    private final Map<String, TopicOffsets> topics = new TreeMap<>();
    /** Offsets of open transactions, by producer id, topic and partition. */
    private final Map<Long, Map<String, Map<Integer, CommittedOffset>>> pending = new TreeMap<>();

    boolean isEmpty() {
        return topics.isEmpty() && pending.isEmpty();
    }

    Map<String, TopicOffsets> topics() {
        return topics;
    }

    CommittedOffset get(String topic, int partition) {
        TopicOffsets offsets = topics.get(topic);
        return offsets == null ? null : offsets.get(partition);
    }

    /** Takes an offset in; null removes it. */
    void put(String topic, int partition, CommittedOffset offset) {
        if (offset != null) {
            topics.computeIfAbsent(topic, absent -> new TopicOffsets()).put(partition, offset);
            return;
        }
        TopicOffsets offsets = topics.get(topic);
        if (offsets != null) {
            offsets.remove(partition);
            if (offsets.isEmpty()) {
                topics.remove(topic);
            }
        }
    }

    /** Takes an offset of a transaction in; null removes it. */
    void putPending(long producerId, String topic, int partition, CommittedOffset offset) {
        if (offset != null) {
            pending.computeIfAbsent(producerId, absent -> new TreeMap<>())
                    .computeIfAbsent(topic, absent -> new TreeMap<>())
                    .put(partition, offset);
            return;
        }
        Map<String, Map<Integer, CommittedOffset>> ofProducer = pendingOf(producerId);
        Map<Integer, CommittedOffset> ofTopic = ofProducer.get(topic);
        if (ofTopic != null) {
            ofTopic.remove(partition);
            if (ofTopic.isEmpty()) {
                ofProducer.remove(topic);
            }
            if (ofProducer.isEmpty()) {
                pending.remove(producerId);
            }
        }
    }

    /** Offsets of a producer's open transaction by topic and partition; empty when there are none. */
    Map<String, Map<Integer, CommittedOffset>> pendingOf(long producerId) {
        return pending.getOrDefault(producerId, new TreeMap<>());
    }

    /** Whether a transaction may still commit an offset of the partition. */
    boolean isPending(String topic, int partition) {
        for (Map<String, Map<Integer, CommittedOffset>> ofProducer : pending.values()) {
            Map<Integer, CommittedOffset> ofTopic = ofProducer.get(topic);
            if (ofTopic != null && ofTopic.containsKey(partition)) {
                return true;
            }
        }
        return false;
    }
}
