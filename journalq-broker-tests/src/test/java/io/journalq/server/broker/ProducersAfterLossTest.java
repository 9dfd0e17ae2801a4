package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.process.LoopbackPorts;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Idempotent producers that outlive a broker, which has lost records that it had acknowledged to them. */
class ProducersAfterLossTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    /** Nothing is written before the broker is killed. */
    private static final String WRITE_INTERVAL_MS = "60000";

    @TempDir
    private Path directory;

    @Test
    void shouldLetKafkasProducerGoOnUnderItsEpochWhenABrokerInModePerformanceIsKilled() throws Exception {
        // given a producer that the broker knows, and whose newest records were acknowledged from memory
        String listener = "PLAINTEXT://127.0.0.1:" + LoopbackPorts.next();
        Path data = directory.resolve("data");
        Path killed = directory.resolve("killed");
        try (TestBroker broker = broker(data, listener).start();
                KafkaProducer<byte[], byte[]> producer =
                        broker.producer(Map.of("retry.backoff.ms", 20, "reconnect.backoff.max.ms", 100))) {
            broker.createTopic("t", 1, Map.of("delivery.mode", "performance", "write.interval.ms", WRITE_INTERVAL_MS));
            send(producer, "kept 1", "kept 2");
            broker.stop();
            broker.start();
            send(producer, "lost 1", "lost 2", "lost 3");
            DataCopy.ofKilled(data, killed);
            broker.stop();

            // when another broker starts on the files of the killed one
            try (TestBroker next = broker(killed, listener).start()) {
                send(producer, "next 1", "next 2");
                next.stop();
                next.start();

                // then the remaining and the new records are there, in order, under the producer's first epoch
                assertThat(next.readAll(List.of(PARTITION), 4))
                        .extracting(record -> new String(record.value(), UTF_8))
                        .containsExactly("kept 1", "kept 2", "next 1", "next 2");
                try (Admin admin = next.admin()) {
                    assertThat(admin.describeProducers(List.of(PARTITION))
                                    .partitionResult(PARTITION)
                                    .get(20, TimeUnit.SECONDS)
                                    .activeProducers())
                            .singleElement()
                            .satisfies(
                                    known -> assertThat(known.producerEpoch()).isZero());
                }
            }
        }
    }

    @Test
    void shouldRefuseAGapWhenABrokerInModeEventualIsKilled() throws Exception {
        // given
        Path data = directory.resolve("data");
        Path killed = directory.resolve("killed");
        try (TestBroker broker = new TestBroker(data).start();
                WireClient client = new WireClient(broker.port())) {
            broker.createTopic("t", 1, Map.of("delivery.mode", "eventual"));
            assertThat(produce(client, 0)).isEqualTo(ErrorCode.NONE);
            DataCopy.ofKilled(data, killed);
        }

        // when
        try (TestBroker broker = new TestBroker(killed).start();
                WireClient client = new WireClient(broker.port())) {
            // then nothing can be lost, and a gap is the producer's fault
            assertThat(produce(client, 2)).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
            assertThat(produce(client, 2)).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
            assertThat(produce(client, 1)).isEqualTo(ErrorCode.NONE);
        }
    }

    @Test
    void shouldRefuseAGapWhenABrokerInModePerformanceWasStoppedInOrder() throws Exception {
        // given
        try (TestBroker broker = new TestBroker(directory)) {
            broker.start();
            broker.createTopic("t", 1, Map.of("delivery.mode", "performance"));
            try (WireClient client = new WireClient(broker.port())) {
                assertThat(produce(client, 0)).isEqualTo(ErrorCode.NONE);
            }
            broker.stop();

            // when
            broker.start();

            // then
            try (WireClient client = new WireClient(broker.port())) {
                assertThat(produce(client, 2)).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
                assertThat(produce(client, 2)).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
                assertThat(produce(client, 1)).isEqualTo(ErrorCode.NONE);
            }
        }
    }

    private static ErrorCode produce(WireClient client, int sequence) throws Exception {
        return ErrorCode.of(client.produce("t", 0, WireClient.batch(1, VALUE, 1, (short) 0, sequence))
                .errorCode());
    }

    private static TestBroker broker(Path data, String listener) {
        return new TestBroker(data).with("listeners", listener);
    }

    /** One batch each. */
    private static void send(KafkaProducer<byte[], byte[]> producer, String... values) throws Exception {
        for (String value : values) {
            producer.send(new ProducerRecord<>("t", value.getBytes(UTF_8))).get(60, TimeUnit.SECONDS);
        }
    }
}
