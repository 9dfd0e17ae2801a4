package io.journalq.server.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Consumers that outlive a broker, which has lost records that they had read (KIP-320). */
@Timeout(120)
final class ConsumersAfterLossTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    @TempDir
    Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("listeners", "PLAINTEXT://127.0.0.1:" + LoopbackPorts.next())
                .start();
        broker.createTopic("t", 1, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldReadTheRecordsThatHaveReplacedLostOnes() throws Exception {
        // given a consumer that has read three records, and a power loss that loses two of them
        produce("kept");
        Path log = log();
        long oneRecordBytes = Files.size(log);
        produce("lost 1", "lost 2");
        try (Consumer consumer = consumer()) {
            assertThat(read(consumer, 3)).containsExactly("kept", "lost 1", "lost 2");
            broker.stop();
            cut(log, oneRecordBytes);

            // when others are appended at their offsets, and behind them
            consumer.pause(List.of(PARTITION));
            broker.start();
            String[] next = {"next 1", "next 2", "next 3"};
            produce(next);
            consumer.resume(List.of(PARTITION));

            // then
            assertThat(read(consumer, 3)).containsExactly(next);
            assertThat(consumer.position(PARTITION)).isEqualTo(4);
        }
    }

    @Test
    void shouldReadRecordsThatAreBackInsteadOfThoseThatWereRead() throws Exception {
        // given a consumer that has read records of the second leader epoch instead of lost ones of the first
        produce("kept");
        Path log = log();
        long oneRecordBytes = Files.size(log);
        produce("back 1", "back 2");
        broker.stop();
        byte[] first = Files.readAllBytes(log);
        cut(log, oneRecordBytes);
        broker.start();
        produce("lost 1", "lost 2", "lost 3");
        try (Consumer consumer = consumer()) {
            assertThat(read(consumer, 4)).containsExactly("kept", "lost 1", "lost 2", "lost 3");
            consumer.pause(List.of(PARTITION));

            // when the lost ones are back, and others follow
            broker.stop();
            cut(log, 0);
            Files.write(log, first);
            broker.start();
            produce("next 1", "next 2", "next 3");
            consumer.resume(List.of(PARTITION));

            // then none of them is skipped
            assertThat(read(consumer, 5)).containsExactly("back 1", "back 2", "next 1", "next 2", "next 3");
        }
    }

    @Test
    void shouldStartAsConfiguredWhenTheTopicIsAnotherOneOfTheSameName() throws Exception {
        // given a consumer that has read in a later leader epoch than the first one
        produce("old 1");
        Path log = log();
        broker.stop();
        cut(log, 0);
        broker.start();
        produce("old 2", "old 3");
        try (Consumer consumer = consumer()) {
            assertThat(read(consumer, 2)).containsExactly("old 2", "old 3");
            consumer.pause(List.of(PARTITION));

            // when
            try (var admin = broker.admin()) {
                admin.deleteTopics(List.of("t")).all().get();
            }
            broker.createTopic("t", 1, Map.of());
            String[] next = {"new 1", "new 2", "new 3"};
            produce(next);
            consumer.resume(List.of(PARTITION));

            // then
            assertThat(read(consumer, 3)).containsExactly(next);
        }
    }

    private Consumer consumer() {
        Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .reconnectBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .startAt(Consumer.Start.BEGINNING)
                .build();
        consumer.assign(List.of(PARTITION));
        return consumer;
    }

    private static List<String> read(Consumer consumer, int count) {
        List<String> values = new ArrayList<>();
        long deadlineNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (values.size() < count && System.nanoTime() < deadlineNanos) {
            for (ConsumerRecord record : consumer.poll(Duration.ofMillis(100))) {
                values.add(new String(record.value(), UTF_8));
            }
        }
        return values;
    }

    private void produce(String... values) {
        try (Producer producer =
                Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
            for (String value : values) {
                producer.send(ProducerRecord.of("t", 0, null, value.getBytes(UTF_8)));
            }
        }
    }

    private Path log() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.getFileName().toString().equals("%020d.log".formatted(0))
                            && file.getParent().getFileName().toString().endsWith("-0"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Deletes everything but the first bytes of the log, including all files that could reveal its length. */
    private static void cut(Path log, long sizeBytes) throws IOException {
        try (Stream<Path> files = Files.list(log.getParent())) {
            for (Path file : files.toList()) {
                if (!file.equals(log)) {
                    Files.delete(file);
                }
            }
        }
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
            file.setLength(sizeBytes);
        }
    }
}
