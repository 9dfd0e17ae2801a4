package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SerializationException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.serialization.Deserializer;
import io.journalq.client.serialization.Serde;
import io.journalq.client.serialization.Serdes;
import io.journalq.client.serialization.Serializer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records whose keys and values are objects, over real sockets. */
@Timeout(60)
final class SerializationTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final Duration LONG = Duration.ofSeconds(10);

    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 1);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldReadTheObjectsThatWereSentWhenBothSidesUseTheSameSerdes(CompressionCodec codec) {
        // given
        try (Producer producer = Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .compression(codec)
                .build()) {
            for (long i = 0; i < 10; i++) {
                producer.send(ProducerRecord.builder("orders")
                        .key(Serdes.utf8(), "Käufer " + i)
                        .value(Serdes.longs(), i - 5)
                        .timestampMs(1_000 + i)
                        .header("trace", new byte[] {1})
                        .build());
            }
            producer.send(ProducerRecord.builder("orders")
                    .key(Serdes.utf8(), null)
                    .value(Serdes.longs(), null)
                    .build());
        }
        // when
        List<TypedRecord<String, Long>> records = new ArrayList<>();
        try (Consumer consumer = consumer()) {
            while (records.size() < 11) {
                consumer.poll(LONG).decode(Serdes.utf8(), Serdes.longs()).forEach(records::add);
            }
        }
        // then
        assertThat(records.get(3))
                .isEqualTo(new TypedRecord<>(
                        "orders", 0, 3L, 1_003L, "Käufer 3", -2L, List.of(new Header("trace", new byte[] {1}))));
        assertThat(records)
                .extracting(TypedRecord::offset)
                .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(records.get(10).key()).isNull();
        assertThat(records.get(10).value()).isNull();
    }

    @Test
    void shouldNameTheRecordAndContinueAfterItWhenADeserializerFails() {
        // given
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            producer.send(ProducerRecord.of("orders", Serdes.longs().serialize("orders", 1L)));
            producer.send(ProducerRecord.of("orders", "seven".getBytes(UTF_8)));
            producer.send(ProducerRecord.of("orders", Serdes.longs().serialize("orders", 3L)));
        }
        try (Consumer consumer = consumer()) {
            List<ConsumerRecord> copies = new ArrayList<>();
            ConsumerRecords polled = consumer.poll(LONG);
            polled.forEach(copies::add);
            assertThat(copies).as("records of one poll").hasSize(3);
            Iterator<TypedRecord<String, Long>> records =
                    polled.<String, Long>decode(Serdes.utf8(), Serdes.longs()).iterator();
            // when, then
            assertThat(records.next().value()).isEqualTo(1L);
            assertThatThrownBy(records::next)
                    .isInstanceOf(SerializationException.class)
                    .hasMessage(
                            "the value of the record at offset 1 of orders-0 cannot be deserialized: 5 bytes are not a"
                                    + " long, which has 8 bytes");
            assertThat(records.next().value()).isEqualTo(3L);
            assertThat(records.hasNext()).isFalse();
            assertThat(copies.get(2).decode(Serdes.utf8(), Serdes.longs()).value())
                    .isEqualTo(3L);
            assertThatThrownBy(() -> copies.get(1).decode(Serdes.utf8(), Serdes.longs()))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("offset 1 of orders-0");
        }
    }

    @Test
    void shouldNameTheTopicWhenASerializerFails() {
        Serializer<String> broken = (topic, value) -> {
            throw new IllegalStateException("no schema for " + topic);
        };
        assertThatThrownBy(() -> ProducerRecord.builder("orders").value(broken, "x"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("the value of a record for orders cannot be serialized: no schema for orders")
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldUseTheFormatsOfKafkasSerializers() {
        UUID id = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");

        assertThat(Serdes.longs().serialize("orders", -2L)).containsExactly(-1, -1, -1, -1, -1, -1, -1, -2);
        assertThat(Serdes.uuids().serialize("orders", id))
                .isEqualTo(id.toString().getBytes(UTF_8));
        assertThat(Serdes.utf8().serialize("orders", "é")).containsExactly(0xC3, 0xA9);
        assertThat(Serdes.bytes().serialize("orders", new byte[] {7})).containsExactly(7);
        assertThat(roundTrip(Serdes.uuids(), id)).isEqualTo(id);
        assertThat(roundTrip(Serdes.longs(), Long.MIN_VALUE)).isEqualTo(Long.MIN_VALUE);
        assertThat(roundTrip(Serdes.utf8(), "\uFFFD 𝄞")).isEqualTo("\uFFFD 𝄞");
        assertThat(roundTrip(Serdes.bytes(), new byte[] {7, 8})).containsExactly(7, 8);
    }

    @Test
    void shouldRefuseBytesThatAreNotOfTheType() {
        assertRefused(Serdes.utf8(), new byte[] {'a', (byte) 0xC3}, "2 bytes are not valid UTF-8");
        assertRefused(Serdes.longs(), new byte[9], "9 bytes are not a long, which has 8 bytes");
        assertRefused(Serdes.uuids(), new byte[16], "16 bytes are not a UUID, which is text of 36 characters");
    }

    private static void assertRefused(Deserializer<?> deserializer, byte[] bytes, String message) {
        assertThatThrownBy(() -> deserializer.deserialize("orders", ByteBuffer.wrap(bytes)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    /** Deserializes from the middle of a direct buffer, because records are read in place. */
    private static <T> T roundTrip(Serde<T> serde, T value) {
        byte[] bytes = serde.serialize("orders", value);
        ByteBuffer around =
                ByteBuffer.allocateDirect(bytes.length + 2).put((byte) 1).put(bytes);
        around.flip().position(1);
        return serde.deserialize("orders", around);
    }

    private Consumer consumer() {
        Consumer consumer = Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .fetchMaxWait(Duration.ofMillis(200))
                .startAt(Consumer.Start.BEGINNING)
                .build();
        consumer.assign(List.of(FIRST));
        return consumer;
    }
}
