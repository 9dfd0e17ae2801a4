package io.journalq.client.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.client.error.SerializationException;
import io.journalq.client.record.ProducerRecord;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JsonSerdeTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    record Order(String item, int count) {}

    @Test
    void shouldReadWhatItWroteFromHeapAndFromDirectBuffers() {
        JsonSerde<Order> serde = JsonSerde.of(MAPPER, Order.class);
        byte[] bytes = serde.serialize("orders", new Order("Käse", 3));

        assertThat(new String(bytes, UTF_8)).isEqualTo("{\"item\":\"Käse\",\"count\":3}");
        assertThat(serde.deserialize("orders", within(ByteBuffer.allocate(bytes.length + 2), bytes)))
                .isEqualTo(new Order("Käse", 3));
        assertThat(serde.deserialize("orders", within(ByteBuffer.allocateDirect(bytes.length + 2), bytes)))
                .isEqualTo(new Order("Käse", 3));
    }

    @Test
    void shouldKeepTheElementTypeWhenTheTypeIsGeneric() {
        JsonSerde<List<Order>> serde = JsonSerde.of(MAPPER, new TypeReference<List<Order>>() {});
        byte[] bytes = serde.serialize("orders", List.of(new Order("tea", 1)));

        assertThat(serde.deserialize("orders", ByteBuffer.wrap(bytes))).containsExactly(new Order("tea", 1));
    }

    @Test
    void shouldSayWhatIsWrongWhenTheBytesAreNotTheType() {
        JsonSerde<Order> serde = JsonSerde.of(MAPPER, Order.class);

        assertThatThrownBy(() -> serde.deserialize("orders", ByteBuffer.wrap("{\"size\":1}".getBytes(UTF_8))))
                .hasMessageContaining("Unrecognized field \"size\"");
        assertThatThrownBy(() -> serde.deserialize("orders", ByteBuffer.wrap("{".getBytes(UTF_8))))
                .hasMessageContaining("end-of-input");
    }

    @Test
    void shouldFailTheRecordWhenAnObjectCannotBeWritten() {
        JsonSerde<Object> serde = JsonSerde.of(MAPPER, Object.class);

        assertThatThrownBy(() -> ProducerRecord.builder("orders").value(serde, new Object()))
                .isInstanceOf(SerializationException.class)
                .hasMessageStartingWith("the value of a record for orders cannot be serialized: No serializer found");
    }

    private static ByteBuffer within(ByteBuffer buffer, byte[] bytes) {
        return buffer.put((byte) 0).put(bytes).put((byte) 0).position(1).limit(bytes.length + 1);
    }
}
