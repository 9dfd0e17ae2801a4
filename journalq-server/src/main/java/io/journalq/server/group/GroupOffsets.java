package io.journalq.server.group;

import java.util.NavigableMap;
import java.util.TreeMap;

/** The committed offsets of one group. */
final class GroupOffsets {
    private final NavigableMap<String, TopicOffsets> topics = new TreeMap<>();

    boolean isEmpty() {
        return topics.isEmpty();
    }

    NavigableMap<String, TopicOffsets> topics() {
        return topics;
    }

    GroupOffset get(String topic, int partition) {
        TopicOffsets offsets = topics.get(topic);
        return offsets == null ? null : offsets.get(partition);
    }

    /** Estimated heap size of the offsets of a topic. */
    long sizeBytes(String topic) {
        TopicOffsets offsets = topics.get(topic);
        return offsets == null ? 0 : OffsetSizes.topic(topic) + offsets.sizeBytes();
    }

    /** Sets an offset; null removes it. */
    void put(String topic, int partition, GroupOffset offset) {
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
}
