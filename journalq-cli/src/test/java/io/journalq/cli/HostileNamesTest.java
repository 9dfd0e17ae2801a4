package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names that clients have chosen, with control characters that a terminal would obey. */
class HostileNamesTest {
    private static final String NAME = "evil\u001b[2J";
    private static final String SHOWN = "evil.[2J";

    @TempDir
    private static Path shared;

    private static CommandBroker broker;

    @BeforeAll
    static void start() {
        broker = new CommandBroker(shared.resolve("data"));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static ConsumerGroupMetadata group() {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrap(), "group.id", NAME),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            return consumer.groupMetadata();
        }
    }

    @Test
    void shouldShowNoControlCharactersOfATransactionalIdOrAGroup() {
        broker.done("topics", "create", "orders");
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", NAME))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(0)), group());
            producer.commitTransaction();

            assertThat(broker.done("transactions", "describe", NAME).outLines().get(0))
                    .startsWith("Transactional id " + SHOWN + "  CompleteCommit");
        }
        assertThat(broker.done("groups", "lag", NAME).outLines())
                .endsWith("Group " + SHOWN + " is behind by 0 messages, 0.0 s");
        assertThat(broker.done("groups", "lag", NAME, "--topic", "none").out())
                .isEqualTo("group " + SHOWN + " has no committed offsets for topic none\n");
        assertThat(broker.done("groups", "delete", NAME).out()).isEqualTo("deleted group " + SHOWN + "\n");
    }

    @Test
    void shouldShowNoControlCharactersInTheNameOfAConfiguration() {
        assertThat(broker.done("configs", "set", "--client-metrics", NAME, "interval.ms=30s")
                        .out())
                .startsWith("changed ")
                .contains(SHOWN + ":")
                .doesNotContain("\u001b");
    }
}
