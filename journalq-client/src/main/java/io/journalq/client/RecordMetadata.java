package io.journalq.client;

/**
 * Where an acknowledged record stands. Immutable.
 *
 * @param topic the topic's name
 * @param partition zero-based
 * @param offset the record's offset, or {@link #UNKNOWN_OFFSET} with {@link Acks#NONE}, or when the broker recognised a
 *     repeated batch whose offset it no longer knows
 * @param timestampMs what the record carries in the journal, milliseconds since 1970 UTC: the producer's, or the
 *     broker's where the topic says so
 */
public record RecordMetadata(String topic, int partition, long offset, long timestampMs) {
    public static final long UNKNOWN_OFFSET = -1L;
}
