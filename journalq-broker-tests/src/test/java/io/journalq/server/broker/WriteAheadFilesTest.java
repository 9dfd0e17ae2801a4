package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mode consistent on real files: acknowledged records are in the write-ahead files, and are restored from there. */
class WriteAheadFilesTest {
    private static final Map<String, String> CONSISTENT = Map.of("delivery.mode", "consistent");
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);
    private static final int PARTITIONS = 5;
    private static final int RECORDS = 200;

    @TempDir
    private Path directory;

    /** Produces until records are written to write-ahead files, which are created during that time. */
    private static void produceUntilCovered(TestBroker broker, Path data, String topic) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            broker.await(() -> {
                try {
                    assertThat(client.produce(topic, 0, WireClient.batch(1, VALUE))
                                    .errorCode())
                            .isZero();
                } catch (java.io.IOException failure) {
                    throw new AssertionError(failure);
                }
                return LostTails.records(data) > 0;
            });
        }
    }

    @Test
    void shouldServeWhatWasAcknowledgedWhenTheJournalsLostIt() throws Exception {
        // given
        Path data = directory.resolve("data");
        Path lost = directory.resolve("lost");
        List<TopicPartition> partitions = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.add(new TopicPartition("many", partition));
        }
        int cut;
        try (TestBroker broker = new TestBroker(data).start()) {
            broker.createTopic("first", 1, CONSISTENT);
            broker.createTopic("many", PARTITIONS, CONSISTENT);
            produceUntilCovered(broker, data, "first");
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("acks", "all"))) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (int i = 0; i < RECORDS; i++) {
                    sent.add(producer.send(new ProducerRecord<>("many", i % PARTITIONS, null, VALUE)));
                }
                for (Future<RecordMetadata> one : sent) {
                    one.get(30, TimeUnit.SECONDS);
                }
            }

            // when
            cut = LostTails.copy(data, lost);
        }

        // then
        assertThat(cut).isPositive();
        try (TestBroker broker = new TestBroker(lost).start()) {
            assertThat(broker.readAll(partitions, RECORDS)).hasSize(RECORDS);
        }
    }

    @Test
    void shouldServeWhatWasAcknowledgedWhenThereAreTwoDataDirectories() throws Exception {
        // given
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        List<TopicPartition> partitions = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.add(new TopicPartition("many", partition));
        }
        int[] sent = new int[1];
        try (TestBroker broker =
                new TestBroker(one).with("data.directories", one + "," + two).start()) {
            broker.createTopic("many", PARTITIONS, CONSISTENT);
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("acks", "all"))) {
                broker.await(() -> {
                    int partition = sent[0]++ % PARTITIONS;
                    try {
                        producer.send(new ProducerRecord<>("many", partition, null, VALUE))
                                .get(30, TimeUnit.SECONDS);
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                    return partition == PARTITIONS - 1 && LostTails.records(one) > 0 && LostTails.records(two) > 0;
                });
            }

            // when
            LostTails.copy(one, directory.resolve("lost-one"));
            LostTails.copy(two, directory.resolve("lost-two"));
        }

        // then
        Path lost = directory.resolve("lost-one");
        try (TestBroker broker = new TestBroker(lost)
                .with("data.directories", lost + "," + directory.resolve("lost-two"))
                .start()) {
            assertThat(broker.readAll(partitions, sent[0])).hasSize(sent[0]);
        }
    }

    @Test
    void shouldLeaveNoWriteAheadFilesWhenTheBrokerWasStopped() throws Exception {
        // given
        Path data = directory.resolve("data");
        TestBroker broker = new TestBroker(data).start();
        broker.createTopic("first", 1, CONSISTENT);
        produceUntilCovered(broker, data, "first");

        // when
        broker.stop();

        // then
        assertThat(data.resolve("write-ahead")).isEmptyDirectory();
    }

    @Test
    void shouldRefuseAppendsToConsistentTopicsOnlyWhenASyncFailed() throws Exception {
        // given
        Path data = directory.resolve("data");
        FullDisk disk = new FullDisk();
        try (TestBroker broker = new TestBroker(data).start(disk.store())) {
            broker.createTopic("first", 1, CONSISTENT);
            broker.createTopic("second", 1, CONSISTENT);
            broker.createTopic("eventual", 1, Map.of("delivery.mode", "eventual", "flush.interval.ms", "3600000"));
            produceUntilCovered(broker, data, "first");
            try (WireClient client = new WireClient(broker.port())) {
                // when
                disk.syncFails = true;
                assertThat(client.produce("first", 0, WireClient.batch(1, VALUE))
                                .errorCode())
                        .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
                disk.syncFails = false;

                // then
                for (String topic : List.of("first", "second")) {
                    assertThat(client.produce(topic, 0, WireClient.batch(1, VALUE))
                                    .errorCode())
                            .as(topic)
                            .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
                }
                assertThat(client.produce("eventual", 0, WireClient.batch(1, VALUE))
                                .errorCode())
                        .isZero();
            }

            // and a restart ends it
            broker.stop();
            broker.start();
            try (WireClient client = new WireClient(broker.port())) {
                assertThat(client.produce("second", 0, WireClient.batch(1, VALUE))
                                .errorCode())
                        .isZero();
            }
        }
    }
}
