package io.journalq.client.serialization;

/**
 * Converts objects to the bytes of keys or values. {@link Serdes} has implementations for common types.
 *
 * <p>Several threads may use the same serializer at the same time.
 *
 * @param <T> the type of the objects
 */
@FunctionalInterface
public interface Serializer<T> {
    /**
     * Returns the bytes of an object.
     *
     * @param topic the topic of the record
     * @param value not null; null becomes a null key or value without a call
     * @return not null; the client keeps the array until the record is sent
     * @throws RuntimeException if the object cannot be converted; the client wraps it in {@link
     *     io.journalq.client.error.SerializationException}
     */
    byte[] serialize(String topic, T value);
}
