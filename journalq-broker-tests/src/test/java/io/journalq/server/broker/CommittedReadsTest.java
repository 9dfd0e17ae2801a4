package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions, with Kafka's own consumer and administrator. */
class CommittedReadsTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int LIMIT_SECONDS = 30;

    @TempDir
    Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        broker.createTopic("t", 1, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldGiveAConsumerOfCommittedRecordsNoOthersAlsoAfterARestart() throws Exception {
        KafkaProducer<byte[], byte[]> first = transactional("first");
        KafkaProducer<byte[], byte[]> second = transactional("second");
        // given interleaved transactions of two producers, every third one aborted
        List<String> committed = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            first.beginTransaction();
            second.beginTransaction();
            send(first, "a" + i);
            send(second, "b" + i);
            send(first, "A" + i);
            second.commitTransaction();
            committed.add("b" + i);
            if (i % 3 == 0) {
                first.abortTransaction();
            } else {
                first.commitTransaction();
                committed.addAll(List.of("a" + i, "A" + i));
            }
        }
        // and an open one
        first.beginTransaction();
        send(first, "open");
        try (KafkaProducer<byte[], byte[]> plain = broker.producer(Map.of())) {
            send(plain, "behind");
        }

        // then a read-committed consumer reads the committed ones, and another consumer reads all
        assertThat(consume("read_committed", committed.size())).containsExactlyInAnyOrderElementsOf(committed);
        assertThat(consume("read_uncommitted", 29)).hasSize(29).contains("open", "behind", "a0");
        long stable = latest(IsolationLevel.READ_COMMITTED);
        assertThat(latest(IsolationLevel.READ_UNCOMMITTED)).isEqualTo(stable + 2);

        // and after a restart of the broker, they read the same
        first.close(Duration.ZERO);
        second.close();
        broker.stop();
        broker.start();
        assertThat(consume("read_committed", committed.size())).containsExactlyInAnyOrderElementsOf(committed);

        // until the successor of its producer ends the open transaction
        transactional("first").close();
        committed.add("behind");
        assertThat(consume("read_committed", committed.size())).containsExactlyInAnyOrderElementsOf(committed);
    }

    @Test
    void shouldWakeAWaitingConsumerWhenATransactionCommits() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = transactional("id");
                KafkaConsumer<byte[], byte[]> consumer =
                        broker.consumer(Map.of("isolation.level", "read_committed", "fetch.max.wait.ms", 20_000))) {
            // given a consumer that waits long for the end of a transaction
            producer.beginTransaction();
            send(producer, "a");
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            assertThat(consumer.poll(Duration.ofMillis(300))).isEmpty();

            // when
            producer.commitTransaction();

            // then
            List<String> seen = new ArrayList<>();
            poll(consumer, 1, seen);
            assertThat(seen).containsExactly("a");
        }
    }

    @Test
    void shouldLetAnAdministratorFindAndEndATransaction() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = transactional("id");
                Admin admin = broker.admin()) {
            // given an open transaction
            producer.beginTransaction();
            send(producer, "a");
            ProducerState state = producerState(admin);
            assertThat(state.currentTransactionStartOffset()).hasValue(0);
            assertThat(state.lastSequence()).isZero();

            // when
            admin.abortTransaction(new AbortTransactionSpec(
                            PARTITION,
                            state.producerId(),
                            (short) state.producerEpoch(),
                            state.coordinatorEpoch().orElse(0)))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);

            // then
            assertThat(producerState(admin).currentTransactionStartOffset()).isEmpty();
            assertThat(latest(IsolationLevel.READ_COMMITTED)).isEqualTo(2);
        }
    }

    @Test
    void shouldRespondToMarkersPartitionByPartition() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            for (int version = 1; version <= 2; version++) {
                // given a marker for a producer that wrote nothing, to existing and missing partitions
                WriteTxnMarkersRequest request = new WriteTxnMarkersRequest()
                        .setMarkers(List.of(
                                marker(77, (short) version, "t", 0, 1),
                                marker(77, (short) 0, "t", 0),
                                marker(-1, (short) 0, "t", 0),
                                marker(77, (short) 0, "none", 0)));
                // when
                List<WriteTxnMarkersResponse.WritableTxnMarkerResult> results = client.call(
                                WriteTxnMarkersResponse.class, request, version)
                        .markers();
                // then
                assertThat(errors(results.get(0)))
                        .containsExactly(ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
                assertThat(errors(results.get(1))).containsExactly(ErrorCode.INVALID_PRODUCER_EPOCH);
                assertThat(errors(results.get(2))).containsExactly(ErrorCode.INVALID_REQUEST);
                assertThat(errors(results.get(3))).containsExactly(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
            }
        }
    }

    private static WriteTxnMarkersRequest.WritableTxnMarker marker(
            long producerId, short epoch, String topic, Integer... partitions) {
        return new WriteTxnMarkersRequest.WritableTxnMarker()
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setTransactionResult(true)
                .setTopics(List.of(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                        .setName(topic)
                        .setPartitionIndexes(List.of(partitions))));
    }

    private static List<ErrorCode> errors(WriteTxnMarkersResponse.WritableTxnMarkerResult result) {
        return result.topics().get(0).partitions().stream()
                .map(partition -> ErrorCode.of(partition.errorCode()))
                .toList();
    }

    private static ProducerState producerState(Admin admin) throws Exception {
        return admin.describeProducers(List.of(PARTITION))
                .partitionResult(PARTITION)
                .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                .activeProducers()
                .get(0);
    }

    private long latest(IsolationLevel isolation) throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.listOffsets(Map.of(PARTITION, OffsetSpec.latest()), new ListOffsetsOptions(isolation))
                    .partitionResult(PARTITION)
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                    .offset();
        }
    }

    private KafkaProducer<byte[], byte[]> transactional(String id) {
        KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", id));
        producer.initTransactions();
        return producer;
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String value) throws Exception {
        producer.send(new ProducerRecord<>("t", 0, null, value.getBytes(StandardCharsets.UTF_8)))
                .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** Polls until there are {@code count} records, and once more to detect further ones. */
    private List<String> consume(String isolation, int count) {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", isolation))) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            List<String> seen = new ArrayList<>();
            poll(consumer, count, seen);
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                seen.add(new String(record.value(), StandardCharsets.UTF_8));
            }
            return seen;
        }
    }

    private static void poll(KafkaConsumer<byte[], byte[]> consumer, int count, List<String> into) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (into.size() < count && System.nanoTime() < deadlineNanos) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                into.add(new String(record.value(), StandardCharsets.UTF_8));
            }
        }
    }
}
