package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data folders of earlier file formats still open, with everything that they hold. {@link GoldenData} made them. */
class GoldenFilesTest {
    private static final TopicPartition PARTITION = new TopicPartition(GoldenData.TOPIC, 0);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"checkpoint-1", "checkpoint-2"})
    void shouldServeEverythingWhenTheDataAreOfAnEarlierFormat(String golden) throws Exception {
        // given
        copy(Path.of("src/test/resources/golden", golden));
        TestBroker broker = new TestBroker(folder).with("offsets.topic.num.partitions", "1");
        broker.start();

        // then
        assertThat(values(broker)).containsExactlyElementsOf(GoldenData.values());
        assertThat(committed(broker)).isEqualTo(GoldenData.COMMITTED);

        // when
        String value = append(broker);
        broker.stop();
        broker.start();

        // then
        assertThat(values(broker)).hasSize(GoldenData.values().size() + 1).endsWith(value);
        broker.close();
    }

    private void copy(Path golden) throws IOException {
        try (Stream<Path> all = Files.walk(golden)) {
            for (Path from : all.toList()) {
                Path to = folder.resolve(golden.relativize(from).toString());
                if (Files.isDirectory(from)) {
                    Files.createDirectories(to);
                } else {
                    Files.copy(from, to);
                }
            }
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(TestBroker broker) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        broker.bootstrap(),
                        "group.id",
                        GoldenData.GROUP,
                        "enable.auto.commit",
                        "false"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    private static List<String> values(TestBroker broker) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(broker)) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            long end = consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
            while (consumer.position(PARTITION) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(new String(record.value(), StandardCharsets.US_ASCII));
                }
            }
        }
        return values;
    }

    private static long committed(TestBroker broker) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(broker)) {
            return consumer.committed(java.util.Set.of(PARTITION))
                    .get(PARTITION)
                    .offset();
        }
    }

    private static String append(TestBroker broker) throws Exception {
        String value = "later";
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrap()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(GoldenData.TOPIC, 0, null, value.getBytes(StandardCharsets.US_ASCII)))
                    .get();
        }
        return value;
    }
}
