package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.TestBroker;
import io.journalq.server.journal.file.SystemFileStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kafka's tool for transactions ({@code kafka-transactions.sh}), with one that no coordinator knows any more. */
class TransactionsToolTest {
    private static final long LIMIT_SECONDS = 30;
    /** Nothing is aborted because the machine is slow. */
    private static final int TRANSACTION_TIMEOUT_MS = 600_000;

    private static final String TOOL = "org.apache.kafka.tools.TransactionsCommand";

    @TempDir
    Path directory;

    private TestBroker broker;
    private ConsoleTool tool;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory.resolve("data"))
                .with("transaction.state.log.num.partitions", "2")
                .start();
        broker.createTopic("orders", 1, Map.of());
        tool = new ConsoleTool(broker, directory);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldFindAndAbortATransactionThatHangs() throws Exception {
        // given one that ended, and one whose coordinator lost its state
        send("ended", "first", true);
        send("hanging", "second", false);
        assertThat(findHanging()).doesNotContain("orders");
        loseCoordinators();

        // when
        String found = findHanging();

        // then
        assertThat(found).containsPattern("orders\\s+0\\s+");
        assertThat(run("describe-producers", "--topic", "orders", "--partition", "0"))
                .contains("CurrentTransactionStartOffset");
        String startOffset = found.lines()
                .filter(line -> line.startsWith("orders"))
                .findFirst()
                .orElseThrow()
                .split("\\s+", -1)[5];

        // when
        run("abort", "--topic", "orders", "--partition", "0", "--start-offset", startOffset);

        // then
        assertThat(findHanging()).doesNotContain("orders");
        send("ended", "third", true);
        assertThat(committed(2)).containsExactly("first", "third");
    }

    private String findHanging() throws Exception {
        return run("find-hanging", "--topic", "orders", "--max-transaction-timeout", "0");
    }

    private String run(String... arguments) throws Exception {
        return tool.run(TOOL, "", arguments).succeeded().out();
    }

    private void send(String transactionalId, String value, boolean commit) throws Exception {
        KafkaProducer<byte[], byte[]> producer = broker.producer(
                Map.of("transactional.id", transactionalId, "transaction.timeout.ms", TRANSACTION_TIMEOUT_MS));
        try {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", value.getBytes(StandardCharsets.UTF_8)))
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            if (commit) {
                producer.commitTransaction();
            }
        } finally {
            // Without waiting, as a process that dies.
            producer.close(Duration.ZERO);
        }
    }

    /** The broker starts again without the journals of the transactions' coordinators. */
    private void loseCoordinators() throws Exception {
        String topicId;
        try (Admin admin = broker.admin()) {
            topicId = admin.describeTopics(List.of("__transaction_state"))
                    .allTopicNames()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                    .get("__transaction_state")
                    .topicId()
                    .toString();
        }
        broker.stop();
        List<Path> directories;
        try (Stream<Path> all = Files.list(directory.resolve("data"))) {
            directories = all.filter(
                            directory -> directory.getFileName().toString().startsWith(topicId))
                    .toList();
        }
        assertThat(directories).hasSize(2);
        for (Path directory : directories) {
            new SystemFileStore().delete(directory);
        }
        broker.start();
    }

    private List<String> committed(int count) {
        TopicPartition partition = new TopicPartition("orders", 0);
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", "read_committed"))) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<String> seen = new ArrayList<>();
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (seen.size() < count && System.nanoTime() < deadlineNanos) {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(record -> seen.add(new String(record.value(), StandardCharsets.UTF_8)));
            }
            return seen;
        }
    }
}
