package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.serialization.Deserializer;
import io.journalq.common.record.Header;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A record that a consumer has read. It is a copy and stays valid after the next poll. The accessors return the arrays
 * themselves, not copies.
 */
public final class ConsumerRecord {
    private final String topic;
    private final int partition;
    private final long offset;
    private final long timestampMs;
    private final byte[] key;
    private final byte[] value;
    private final List<Header> headers;

    ConsumerRecord(
            String topic,
            int partition,
            long offset,
            long timestampMs,
            byte[] key,
            byte[] value,
            List<Header> headers) {
        this.topic = topic;
        this.partition = partition;
        this.offset = offset;
        this.timestampMs = timestampMs;
        this.key = key;
        this.value = value;
        this.headers = headers;
    }

    public String topic() {
        return topic;
    }

    /** The partition, counted from 0. */
    public int partition() {
        return partition;
    }

    public long offset() {
        return offset;
    }

    /** The timestamp of the record in milliseconds since 1970 UTC, or -1 if the producer set none. */
    public long timestampMs() {
        return timestampMs;
    }

    /** The key, or null if the record has none. */
    public byte[] key() {
        return key;
    }

    /** The value, or null for a tombstone. */
    public byte[] value() {
        return value;
    }

    /** The headers in their order; empty if there are none. */
    public List<Header> headers() {
        return headers;
    }

    /**
     * Returns this record with its key and value as objects.
     *
     * @throws io.journalq.client.error.SerializationException if a deserializer fails
     */
    public <K, V> TypedRecord<K, V> decode(
            Deserializer<? extends K> keyDeserializer, Deserializer<? extends V> valueDeserializer) {
        notNull(keyDeserializer, "keyDeserializer");
        notNull(valueDeserializer, "valueDeserializer");
        return new TypedRecord<>(
                topic,
                partition,
                offset,
                timestampMs,
                TypedRecord.decode(keyDeserializer, "key", topic, partition, offset, wrap(key)),
                TypedRecord.decode(valueDeserializer, "value", topic, partition, offset, wrap(value)),
                headers);
    }

    private static ByteBuffer wrap(byte[] bytes) {
        return bytes == null ? null : ByteBuffer.wrap(bytes);
    }

    @Override
    public String toString() {
        return "ConsumerRecord[" + topic + "-" + partition + " offset " + offset + ", key "
                + (key == null ? "null" : key.length + " bytes") + ", value "
                + (value == null ? "null" : value.length + " bytes") + "]";
    }
}
