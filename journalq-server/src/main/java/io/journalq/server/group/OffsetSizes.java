package io.journalq.server.group;

import io.journalq.server.memory.TextSize;

/** Estimates the heap size of committed offsets; {@code GroupMemoryTest} checks the estimates. Stateless. */
final class OffsetSizes {
    /** A group that has offsets, without the offsets. */
    static final int GROUP_BYTES = 200;

    /** A topic of a group, without its offsets. */
    static final int TOPIC_BYTES = 430;

    /** An element for an offset in the arrays of a topic. */
    static final int PLACE_BYTES = 24;

    /** An offset of a partition whose number is far above the others. */
    static final int SCATTERED_BYTES = 130;

    /** The metadata of an offset, without its characters. */
    static final int METADATA_BYTES = 110;

    /** A pending offset of a transaction, which is found by its partition and by its producer. */
    private static final int PENDING_BYTES = 500;

    private OffsetSizes() {}

    static long group(String groupId) {
        return (long) GROUP_BYTES + TextSize.bytes(groupId);
    }

    static long topic(String topic) {
        return (long) TOPIC_BYTES + TextSize.bytes(topic);
    }

    /** Maximum size that the first offset of a group in a partition adds. */
    static long first(String topic) {
        return topic(topic) + SCATTERED_BYTES;
    }

    /** A pending offset with its texts. Each has the id of its group, because the group need not have other offsets. */
    static long pending(String groupId, String topic, String metadata) {
        return PENDING_BYTES + TextSize.bytes(groupId) + text(topic) + text(metadata);
    }

    /** Size of a text; 0 for none. */
    static long text(String text) {
        return text == null || text.isEmpty() ? 0 : METADATA_BYTES + TextSize.bytes(text);
    }
}
