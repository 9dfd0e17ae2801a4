package io.journalq.client.serialization;

/**
 * Converts objects of one type in both directions.
 *
 * @param <T> the type of the objects
 */
public interface Serde<T> extends Serializer<T>, Deserializer<T> {}
