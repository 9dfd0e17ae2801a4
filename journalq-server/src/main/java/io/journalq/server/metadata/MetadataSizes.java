package io.journalq.server.metadata;

import io.journalq.server.memory.TextSize;
import java.util.Map;
import java.util.TreeMap;

/**
 * What metadata takes of the heap, about: with what the whole broker keeps because of it, such as the log of a partition.
 * {@code HeapCostTest} holds topics against the heap of a real broker, {@code MetadataMemoryTest} the rest. Stateless.
 */
final class MetadataSizes {
    /** A topic without partitions: its image, and its places in the maps of the machine, of the image and of its loops. */
    private static final int TOPIC_BYTES = 150;

    /** A partition that is idle: its image, its host and its log. */
    private static final int PARTITION_BYTES = 2_000;

    /** A name or a text of one byte a character, with its object, and its place in a map. */
    private static final int ENTRY_BYTES = 150;

    /** A group, broker, subscription, user or client that has settings, without these. */
    private static final int OWNER_BYTES = 200;

    private MetadataSizes() {}

    static long of(TopicImage topic) {
        return topic(topic.name()) + partitions(topic.partitions().size()) + settings(topic.configs());
    }

    static long topic(String name) {
        return (long) TOPIC_BYTES + TextSize.bytes(name);
    }

    static long partitions(int count) {
        return (long) PARTITION_BYTES * count;
    }

    /** A topic's settings, texts by name. */
    static long settings(Map<String, String> settings) {
        long bytes = 0;
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            bytes += ENTRY_BYTES + setting.getKey().length() + text(setting.getValue());
        }
        return bytes;
    }

    /** Settings of what is no topic; nothing when there are none. */
    static long resource(ResourceId resource, Map<String, String> settings) {
        return settings.isEmpty() ? 0 : OWNER_BYTES + text(resource.name()) + settings(settings);
    }

    /** Limits of a client; nothing when there are none. */
    static long quota(QuotaEntity entity, Map<String, Double> limits) {
        return limits.isEmpty()
                ? 0
                : OWNER_BYTES + name(entity.user()) + name(entity.clientId()) + (long) ENTRY_BYTES * limits.size();
    }

    /** What {@code changes} make of {@code before}: null removes. */
    static <V> Map<String, V> changed(Map<String, V> before, Map<String, V> changes) {
        Map<String, V> after = new TreeMap<>(before);
        changes.forEach((name, value) -> {
            if (value == null) {
                after.remove(name);
            } else {
                after.put(name, value);
            }
        });
        return after;
    }

    private static long name(QuotaEntity.Part part) {
        return part == null ? 0 : text(part.name());
    }

    private static int text(String text) {
        return text == null ? 0 : TextSize.bytes(text);
    }
}
