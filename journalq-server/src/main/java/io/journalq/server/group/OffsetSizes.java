package io.journalq.server.group;

import io.journalq.server.memory.TextSize;

/** An estimate of what committed offsets take of the heap; {@code GroupMemoryTest} holds it against that. Stateless. */
final class OffsetSizes {
    /** A group that has offsets, without them. */
    static final int GROUP_BYTES = 200;

    /** A topic of a group, without its offsets. */
    static final int TOPIC_BYTES = 430;

    /** A place for an offset in the arrays of a topic. */
    static final int PLACE_BYTES = 24;

    /** An offset that lies far behind the others. */
    static final int SCATTERED_BYTES = 130;

    /** A text that lies with an offset, without its characters. */
    static final int METADATA_BYTES = 110;

    /** An offset that a transaction has not decided on, found by its place and by its producer. */
    static final int PENDING_BYTES = 500;

    private OffsetSizes() {}

    static long group(String groupId) {
        return (long) GROUP_BYTES + TextSize.bytes(groupId);
    }

    static long topic(String topic) {
        return (long) TOPIC_BYTES + TextSize.bytes(topic);
    }

    /** The most that the first offset of a group in a partition adds. */
    static long first(String topic) {
        return topic(topic) + SCATTERED_BYTES;
    }

    /** A text; 0 for none. */
    static long text(String text) {
        return text == null || text.isEmpty() ? 0 : METADATA_BYTES + TextSize.bytes(text);
    }
}
