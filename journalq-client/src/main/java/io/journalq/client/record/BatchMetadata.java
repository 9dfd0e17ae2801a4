package io.journalq.client.record;

/**
 * The position of an acknowledged batch. Its records have the offsets {@code baseOffset} to {@code baseOffset +
 * recordCount - 1}. Immutable.
 *
 * @param topic the name of the topic
 * @param partition the partition, counted from 0
 * @param baseOffset the offset of the first record, or {@link RecordMetadata#UNKNOWN_OFFSET}
 * @param recordCount the number of records, at least 1
 * @param maxTimestampMs the largest timestamp of the batch, in milliseconds since 1970 UTC
 */
public record BatchMetadata(String topic, int partition, long baseOffset, int recordCount, long maxTimestampMs) {}
