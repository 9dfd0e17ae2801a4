package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data directories of earlier file formats still open, with all their data. {@link GoldenData} created them. */
class GoldenFilesTest {
    private static final TopicPartition PARTITION = new TopicPartition(GoldenData.TOPIC, 0);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {"checkpoint-1", "checkpoint-2", "checkpoint-3", "formats-1", "write-ahead-1", "write-ahead-2"})
    void shouldServeEverythingWhenTheDataAreOfAnEarlierFormat(String golden) throws Exception {
        // given
        copy(GoldenData.DIRECTORY.resolve(golden));
        TestBroker broker = broker().start();

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

    @ParameterizedTest
    @ValueSource(strings = {"checkpoint-3", "formats-1"})
    void shouldHideWhatWasAbortedWhenTheIndexOfTransactionsIsOfAnEarlierFormat(String golden) throws Exception {
        // given
        copy(GoldenData.DIRECTORY.resolve(golden));
        assertThat(files(".txnindex")).isNotEmpty();
        try (TestBroker broker = broker().start()) {
            // then
            TopicPartition partition = new TopicPartition(GoldenData.TRANSACTIONS_TOPIC, 0);
            assertThat(values(broker, partition)).containsExactlyElementsOf(GoldenData.committedValues());
            assertThat(committed(broker)).isEqualTo(GoldenData.COMMITTED);
        }
    }

    @Test
    void shouldNotStartWhenTheStoreOfCoordinatorsIsOfANewerFormat() throws Exception {
        // given
        copy(GoldenData.DIRECTORY.resolve("formats-1"));
        Path format = directory.resolve("coordinators").resolve("journalq.format");
        assertThat(format).hasContent("journalq-coordinators 1\n");
        Files.writeString(format, "journalq-coordinators 2\n");

        // when, then
        assertThatThrownBy(() -> broker().start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining(format.toString())
                .hasMessageContaining("version 2")
                .hasMessageContaining("start the newer release");
        assertThat(format).hasContent("journalq-coordinators 2\n");
    }

    @Test
    void shouldNotStartWhenTheMetadataLogIsOfANewerFormat() throws Exception {
        copy(GoldenData.DIRECTORY.resolve("checkpoint-3"));
        Path checkpoint = directory.resolve("metadata").resolve("journal.checkpoint");
        byte[] content = Files.readAllBytes(checkpoint);
        ByteBuffer bytes = ByteBuffer.wrap(content);
        int version = bytes.getInt(4) + 1;
        CRC32C crc = new CRC32C();
        crc.update(bytes.putInt(4, version).array(), 0, 8);
        crc.update(content, 12, content.length - 12);
        Files.write(checkpoint, bytes.putInt(8, (int) crc.getValue()).array());

        assertThatThrownBy(() -> broker().start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining(checkpoint.toString())
                .hasMessageContaining("version " + version)
                .hasMessageContaining("start the newer release");
    }

    private TestBroker broker() {
        return new TestBroker(directory)
                .with("offsets.topic.num.partitions", "1")
                .with("transaction.state.log.num.partitions", "1");
    }

    private List<Path> files(String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    private void copy(Path golden) throws IOException {
        try (Stream<Path> all = Files.walk(golden)) {
            for (Path from : all.toList()) {
                Path to = directory.resolve(golden.relativize(from).toString());
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
                        "false",
                        "isolation.level",
                        "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    private static List<String> values(TestBroker broker) {
        return values(broker, PARTITION);
    }

    private static List<String> values(TestBroker broker, TopicPartition partition) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(broker)) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
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
