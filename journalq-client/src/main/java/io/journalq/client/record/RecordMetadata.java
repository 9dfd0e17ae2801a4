package io.journalq.client.record;

/**
 * The position of an acknowledged record. Immutable.
 *
 * @param topic the name of the topic
 * @param partition the partition, counted from 0
 * @param offset the offset of the record. It is {@link #UNKNOWN_OFFSET} with {@link io.journalq.client.Acks#NONE}, and
 *     if the broker recognized a retried batch as a duplicate without knowing its offset
 * @param timestampMs the timestamp of the record in milliseconds since 1970 UTC. The producer sets it, or the broker if
 *     the topic has {@code message.timestamp.type=LogAppendTime}
 */
public record RecordMetadata(String topic, int partition, long offset, long timestampMs) {
    public static final long UNKNOWN_OFFSET = -1L;
}
