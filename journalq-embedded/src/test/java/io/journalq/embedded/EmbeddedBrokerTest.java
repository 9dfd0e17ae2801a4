package io.journalq.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedBrokerTest {
    private static final long PATIENCE_SECONDS = 30;

    /** Large enough to go out as a region of a file. */
    private static final int VALUE_SIZE_BYTES = 200_000;

    @ParameterizedTest
    @ValueSource(strings = {"picocli.CommandLine", "io.journalq.cli.JournalqMain", "io.journalq.client.Producer"})
    void shouldCarryNoCommandLineAndNoClient(String name) {
        assertThatThrownBy(() -> Class.forName(name)).isInstanceOf(ClassNotFoundException.class);
    }

    @Test
    void shouldServeAGroupWhenItIsInMemoryOnly() throws Exception {
        // given
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start()) {
            // when
            send(broker, "orders", new byte[VALUE_SIZE_BYTES]);

            // then
            assertThat(receive(broker, "orders")).hasSize(VALUE_SIZE_BYTES);
            assertThat(Path.of("memory")).doesNotExist();
        }
    }

    @Test
    void shouldFindItsDataWhenItIsStartedAgainInTheSameDirectory(@TempDir Path directory) throws Exception {
        // given
        EmbeddedBrokerBuilder builder = JournalQ.embedded().inDirectory(directory);
        try (EmbeddedBroker broker = builder.start()) {
            send(broker, "orders", "kept".getBytes(StandardCharsets.UTF_8));
        }

        // when
        try (EmbeddedBroker again = builder.start()) {
            // then
            assertThat(receive(again, "orders")).isEqualTo("kept".getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A comma separates data directories, so the data would lie in others. */
    @Test
    void shouldRefuseADirectoryWithACommaInItsPath(@TempDir Path directory) {
        EmbeddedBrokerBuilder builder = JournalQ.embedded();

        assertThatThrownBy(() -> builder.inDirectory(directory.resolve("a,b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("comma");
    }

    @Test
    void shouldLeaveNoTraceWhenItIsClosed() throws Exception {
        // given
        Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
        EmbeddedBroker broker = JournalQ.embedded().start();
        send(broker, "orders", new byte[1]);
        Path directory = broker.temporaryDirectory();
        assertThat(directory).isNotEmptyDirectory();
        int port = broker.port();

        // when
        broker.close();
        broker.close();

        // then
        assertThat(directory).doesNotExist();
        try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertThat(free.isBound()).isTrue();
        }
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!brokerThreads(threadsBefore).isEmpty() && System.nanoTime() < deadlineNanos) {
            Thread.sleep(10);
        }
        assertThat(brokerThreads(threadsBefore)).isEmpty();
    }

    @Test
    void shouldDeleteItsTemporaryDirectoryWhateverFailsAtTheStart(@TempDir Path parent) throws Exception {
        // given
        Path temporary = Files.createDirectory(parent.resolve("journalq-1"));
        Files.createFile(temporary.resolve("meta"));

        // when
        assertThatThrownBy(() -> EmbeddedBrokerBuilder.start(temporary, () -> {
                    throw new UncheckedIOException(new IOException("the disk is full"));
                }))
                .isInstanceOf(UncheckedIOException.class);

        // then
        assertThat(temporary).doesNotExist();
    }

    @Test
    void shouldNameTheNearestSettingWhenThereIsNoSuchOne() {
        // given
        EmbeddedBrokerBuilder builder = JournalQ.embedded();

        // when, then
        assertThatThrownBy(() -> builder.set("num.partition", "3"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("num.partitions");
    }

    private static Set<String> brokerThreads(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name -> name.startsWith("shard") || name.startsWith("journalq"))
                .collect(Collectors.toSet());
    }

    @Test
    void shouldLetAUserLogInWhenItHasOne() throws Exception {
        EmbeddedBrokerBuilder builder = JournalQ.embedded()
                .set("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .user("billing", "secret".toCharArray());
        assertThatThrownBy(() -> JournalQ.embedded()
                        .user("billing", "secret".toCharArray())
                        .inMemory()
                        .start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot have users");

        try (EmbeddedBroker broker = builder.start();
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of(
                                "bootstrap.servers",
                                broker.bootstrapServers(),
                                "security.protocol",
                                "SASL_PLAINTEXT",
                                "sasl.mechanism",
                                "SCRAM-SHA-512",
                                "sasl.jaas.config",
                                "org.apache.kafka.common.security.scram.ScramLoginModule required"
                                        + " username=\"billing\" password=\"secret\";"),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            assertThat(producer.send(new ProducerRecord<>("orders", new byte[1]))
                            .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                            .offset())
                    .isZero();
        }
    }

    private static void send(EmbeddedBroker broker, String topic, byte[] value) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, value)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static byte[] receive(EmbeddedBroker broker, String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        broker.bootstrapServers(),
                        "group.id",
                        "readers",
                        "auto.offset.reset",
                        "earliest"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.subscribe(Set.of(topic));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (System.nanoTime() < deadlineNanos) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    return record.value();
                }
            }
        }
        throw new AssertionError("no record came within " + PATIENCE_SECONDS + " s");
    }
}
