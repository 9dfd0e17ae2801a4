package io.journalq.client.jackson;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import io.journalq.client.serialization.Serde;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * Converts objects to JSON in UTF-8 and back. Thread-safe.
 *
 * @param <T> the type of the objects
 */
public final class JsonSerde<T> implements Serde<T> {
    private final ObjectWriter writer;
    private final ObjectReader reader;

    private JsonSerde(ObjectMapper mapper, JavaType type) {
        this.writer = mapper.writerFor(type);
        this.reader = mapper.readerFor(type);
    }

    /** Creates a serde for a class, with the settings of the mapper at this time. */
    public static <T> JsonSerde<T> of(ObjectMapper mapper, Class<T> type) {
        return new JsonSerde<>(mapper, mapper.constructType(type));
    }

    /** Creates a serde for a generic type such as {@code List<Order>}, with the settings of the mapper at this time. */
    public static <T> JsonSerde<T> of(ObjectMapper mapper, TypeReference<T> type) {
        return new JsonSerde<>(mapper, mapper.constructType(type.getType()));
    }

    @Override
    public byte[] serialize(String topic, T value) {
        try {
            return writer.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e.getOriginalMessage(), e);
        }
    }

    @Override
    public T deserialize(String topic, ByteBuffer data) {
        try {
            if (data.hasArray()) {
                return reader.readValue(data.array(), data.arrayOffset() + data.position(), data.remaining());
            }
            byte[] copy = new byte[data.remaining()];
            data.get(copy);
            return reader.readValue(copy);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }
}
