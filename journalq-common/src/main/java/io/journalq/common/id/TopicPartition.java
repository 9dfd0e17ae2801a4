package io.journalq.common.id;

/**
 * A partition by its topic's name. Immutable.
 *
 * @param topic the topic's name
 * @param partition zero-based number of the partition within its topic
 */
public record TopicPartition(String topic, int partition) {
    @Override
    public String toString() {
        return topic + "-" + partition;
    }
}
