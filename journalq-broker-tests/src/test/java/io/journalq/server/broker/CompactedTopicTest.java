package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compacted topics of a running broker, with Kafka's own clients. */
class CompactedTopicTest {
    private static final TopicPartition TABLE = new TopicPartition("table", 0);
    private static final int KEYS = 20;
    private static final int ROUNDS = 100;

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("log.cleaner.backoff.ms", "20")
                .with("log.retention.check.interval.ms", "50")
                .with("flush.interval.ms", "20")
                .with("admin.listener", "127.0.0.1:0")
                .start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** Writes every key {@link #ROUNDS} times, and finally deletes the odd ones. */
    private void fill() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 1, "batch.size", 2_000))) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                for (int key = 0; key < KEYS; key++) {
                    byte[] value = bytes("value " + round + " of " + key + " and some more text to fill segments");
                    sent.add(producer.send(new ProducerRecord<>("table", 0, bytes("key" + key), value)));
                }
            }
            for (int key = 1; key < KEYS; key += 2) {
                sent.add(producer.send(new ProducerRecord<>("table", 0, bytes("key" + key), null)));
            }
            for (Future<RecordMetadata> future : sent) {
                future.get(20, TimeUnit.SECONDS);
            }
        }
    }

    /**
     * The newest value of each key for a reader from the beginning. The reader must reach the end, although offsets are
     * missing.
     */
    private Map<String, String> table(List<Long> offsets) {
        Map<String, String> table = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of())) {
            consumer.assign(List.of(TABLE));
            consumer.seekToBeginning(List.of(TABLE));
            long end = consumer.endOffsets(List.of(TABLE)).get(TABLE);
            while (consumer.position(TABLE) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    String key = new String(record.key(), UTF_8);
                    offsets.add(record.offset());
                    if (record.value() == null) {
                        table.remove(key);
                    } else {
                        table.put(key, new String(record.value(), UTF_8));
                    }
                }
            }
        }
        return table;
    }

    private static Map<String, String> newest() {
        Map<String, String> table = new TreeMap<>();
        for (int key = 0; key < KEYS; key += 2) {
            String value = "value " + (ROUNDS - 1) + " of " + key + " and some more text to fill segments";
            table.put("key" + key, value);
        }
        return table;
    }

    private void awaitCompaction() throws Exception {
        broker.await(() -> {
            List<Long> offsets = new ArrayList<>();
            table(offsets);
            return offsets.size() < KEYS * ROUNDS / 2;
        });
    }

    /** Values by key that a reader gets, of committed records or of all. */
    private Map<String, String> read(String isolationLevel) {
        Map<String, String> table = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", isolationLevel))) {
            consumer.assign(List.of(TABLE));
            consumer.seekToBeginning(List.of(TABLE));
            long end = consumer.endOffsets(List.of(TABLE)).get(TABLE);
            while (consumer.position(TABLE) < end) {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(record ->
                                table.put(new String(record.key(), UTF_8), new String(record.value(), UTF_8)));
            }
        }
        return table;
    }

    private static void sendAll(KafkaProducer<byte[], byte[]> producer, String key, int round) {
        producer.beginTransaction();
        for (int i = 0; i < 10; i++) {
            byte[] value = bytes(round + " and some more text to fill segments, some more text to fill segments");
            var unused = producer.send(new ProducerRecord<>("table", 0, bytes(key + i), value));
        }
    }

    @Test
    void shouldHideWhatWasAbortedWhileCompactionTakesItAndItsMarkersAway() throws Exception {
        // given a topic that keeps deleted records for the minimum time
        broker.createTopic(
                "table",
                1,
                Map.of(
                        "cleanup.policy", "compact",
                        "segment.bytes", "4096",
                        "min.cleanable.dirty.ratio", "0.0",
                        "delete.retention.ms", "0"));
        // when transactions are alternately aborted and committed, and others follow
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "t"))) {
            producer.initTransactions();
            for (int round = 0; round < 20; round++) {
                sendAll(producer, round < 10 ? "aborted" : "later", round);
                if (round < 10) {
                    producer.flush();
                    producer.abortTransaction();
                    sendAll(producer, "kept", round);
                }
                producer.commitTransaction();
                assertThat(read("read_committed").keySet()).noneMatch(key -> key.startsWith("aborted"));
            }
        }

        // then the aborted records are removed, and read-committed consumers never read one
        broker.await(() -> {
            Map<String, String> committed = read("read_committed");
            assertThat(committed.keySet()).noneMatch(key -> key.startsWith("aborted"));
            assertThat(committed).hasSize(20).allSatisfy((key, value) -> assertThat(value)
                    .startsWith(key.startsWith("kept") ? "9 " : "19 "));
            return read("read_uncommitted").keySet().stream().noneMatch(key -> key.startsWith("aborted"));
        });
        broker.stop();
        broker.start();
        assertThat(read("read_committed")).hasSize(20);
    }

    @Test
    void shouldServeTheNewestOfEachKeyWhenATopicIsCompacted() throws Exception {
        // given
        broker.createTopic(
                "table",
                1,
                Map.of("cleanup.policy", "compact", "segment.bytes", "8192", "min.cleanable.dirty.ratio", "0.01"));

        // when
        fill();
        assertThat(table(new ArrayList<>())).isEqualTo(newest());
        awaitCompaction();

        // then
        List<Long> offsets = new ArrayList<>();
        assertThat(table(offsets)).isEqualTo(newest());
        assertThat(offsets).isSorted();
        assertThat(broker.page("/metrics").body())
                .contains("journalq_cleaner_runs_total")
                .contains("journalq_cleaner_uncleanable_partitions 0.0");

        // and after a restart
        broker.stop();
        broker.start();
        assertThat(table(new ArrayList<>())).isEqualTo(newest());
        try (Admin admin = broker.admin()) {
            ListOffsetsResultInfo earliest = admin.listOffsets(Map.of(TABLE, OffsetSpec.earliest()))
                    .partitionResult(TABLE)
                    .get(20, TimeUnit.SECONDS);
            assertThat(earliest.offset())
                    .as("compaction does not move the beginning")
                    .isZero();
        }
    }

    @Test
    void shouldAlsoDeleteWhenATopicIsCompactedAndDeleted() throws Exception {
        broker.createTopic(
                "table",
                1,
                Map.of("cleanup.policy", "compact,delete", "segment.bytes", "8192", "retention.bytes", "20000"));

        fill();
        broker.await(() -> {
            try (Admin admin = broker.admin()) {
                return admin.listOffsets(Map.of(TABLE, OffsetSpec.earliest()))
                                .partitionResult(TABLE)
                                .get(20, TimeUnit.SECONDS)
                                .offset()
                        > 0;
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });

        assertThat(newest()).containsAllEntriesOf(table(new ArrayList<>()));
    }

    @Test
    void shouldRefuseWhatDoesNotGoWithCompaction() throws Exception {
        broker.createTopic("table", 1, Map.of("cleanup.policy", "compact"));

        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("table", 0, null, bytes("no key")))
                            .get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(InvalidRecordException.class);
        }
        try (Admin admin = broker.admin()) {
            assertThatThrownBy(() -> admin.deleteRecords(Map.of(TABLE, RecordsToDelete.beforeOffset(0)))
                            .all()
                            .get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(PolicyViolationException.class);
        }
    }

    @Test
    void shouldCompactTheBrokersOwnTopics() throws Exception {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("group.id", "g"))) {
            broker.createTopic("table", 1, Map.of());
            consumer.assign(List.of(TABLE));
            consumer.commitSync(Map.of(TABLE, new OffsetAndMetadata(0)));
        }

        try (Admin admin = broker.admin()) {
            ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "__consumer_offsets");
            var config = admin.describeConfigs(List.of(topic))
                    .all()
                    .get(20, TimeUnit.SECONDS)
                    .get(topic);
            assertThat(config.get("cleanup.policy").value()).isEqualTo("compact");
            assertThat(config.get("segment.bytes").value()).isEqualTo("104857600");
        }
    }
}
