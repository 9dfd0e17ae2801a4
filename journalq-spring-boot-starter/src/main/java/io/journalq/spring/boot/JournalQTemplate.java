package io.journalq.spring.boot;

import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.serialization.Serializer;
import java.util.concurrent.CompletableFuture;

/**
 * Sends keys and values that are objects. {@code journalq.key-serde} and {@code journalq.value-serde} determine their
 * format. Thread-safe.
 */
public final class JournalQTemplate {
    private final Producer producer;
    private final Serializer<Object> keys;
    private final Serializer<Object> values;

    JournalQTemplate(Producer producer, Serializer<Object> keys, Serializer<Object> values) {
        this.producer = producer;
        this.keys = keys;
        this.values = values;
    }

    /** Sends a record without a key and blocks until it is acknowledged. See {@link #send(String, Object, Object)}. */
    public RecordMetadata send(String topic, Object value) {
        return send(topic, null, value);
    }

    /**
     * Sends a record and blocks until it is acknowledged. See {@link Producer#send}.
     *
     * @param key may be null
     * @param value may be null, for a tombstone
     * @throws io.journalq.client.error.SerializationException if the key or value does not have the format
     */
    public RecordMetadata send(String topic, Object key, Object value) {
        return producer.send(record(topic, key, value));
    }

    /** Sends a record without blocking for its acknowledgement. See {@link Producer#sendAsync}. */
    public CompletableFuture<RecordMetadata> sendAsync(String topic, Object key, Object value) {
        return producer.sendAsync(record(topic, key, value));
    }

    /** Returns a record with a key and a value in the formats of the application, for {@link Producer#inTransaction}. */
    public ProducerRecord record(String topic, Object key, Object value) {
        return ProducerRecord.builder(topic).key(keys, key).value(values, value).build();
    }
}
