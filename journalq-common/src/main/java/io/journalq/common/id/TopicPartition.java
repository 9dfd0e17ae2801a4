package io.journalq.common.id;

/**
 * A partition, identified by the name of its topic. Immutable.
 *
 * @param topic the name of the topic
 * @param partition the number of the partition, counted from 0
 */
public record TopicPartition(String topic, int partition) {
    @Override
    public String toString() {
        return topic + "-" + partition;
    }
}
