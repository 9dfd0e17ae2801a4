package io.journalq.client;

/**
 * Where an acknowledged batch stands: its records hold the offsets {@code baseOffset} to {@code baseOffset + recordCount
 * - 1}. Immutable.
 *
 * @param topic the topic's name
 * @param partition zero-based
 * @param baseOffset offset of the first record, or {@link RecordMetadata#UNKNOWN_OFFSET}
 * @param recordCount at least 1
 * @param maxTimestampMs largest timestamp in the batch, milliseconds since 1970 UTC
 */
public record BatchMetadata(String topic, int partition, long baseOffset, int recordCount, long maxTimestampMs) {}
