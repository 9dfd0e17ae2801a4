package io.journalq.client;

import io.journalq.client.error.SerializationException;
import io.journalq.client.serialization.Deserializer;
import io.journalq.common.record.Header;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A record that a consumer has read, with its key and value as objects. See {@link ConsumerRecords#decode}.
 *
 * @param topic the name of the topic
 * @param partition the partition, counted from 0
 * @param offset the offset of the record
 * @param timestampMs the timestamp of the record in milliseconds since 1970 UTC, or -1 if the producer set none
 * @param key the key, or null if the record has none
 * @param value the value, or null for a tombstone
 * @param headers the headers in their order; empty if there are none
 * @param <K> the type of the key
 * @param <V> the type of the value
 */
public record TypedRecord<K, V>(
        String topic, int partition, long offset, long timestampMs, K key, V value, List<Header> headers) {

    /** Deserializes one part of a record. {@code data} may be null. */
    static <T> T decode(
            Deserializer<? extends T> deserializer,
            String part,
            String topic,
            int partition,
            long offset,
            ByteBuffer data) {
        if (data == null) {
            return null;
        }
        try {
            return deserializer.deserialize(topic, data);
        } catch (RuntimeException e) {
            throw new SerializationException(
                    "the " + part + " of the record at offset " + offset + " of " + topic + "-" + partition
                            + " cannot be deserialized: " + e.getMessage(),
                    e);
        }
    }
}
