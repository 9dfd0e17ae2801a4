package io.journalq.client.serialization;

import java.nio.ByteBuffer;

/**
 * Converts the bytes of keys or values to objects. {@link Serdes} has implementations for common types.
 *
 * <p>Several threads may use the same deserializer at the same time.
 *
 * @param <T> the type of the objects
 */
@FunctionalInterface
public interface Deserializer<T> {
    /**
     * Returns the object that the bytes represent.
     *
     * @param topic the topic of the record
     * @param data the bytes from the position to the limit, usually in the network buffer. Valid only during this call,
     *     and must not be modified. A null key or value becomes null without a call
     * @throws RuntimeException if the bytes cannot be converted; the client wraps it in {@link
     *     io.journalq.client.error.SerializationException}
     */
    T deserialize(String topic, ByteBuffer data);
}
