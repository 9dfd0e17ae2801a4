package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * When a producer id has used up its epochs, its transactional id continues under another producer id. Producers with
 * the old id are fenced.
 */
class ProducerEpochsTest {
    /** The last epoch that a producer can have. */
    private static final short LAST_EPOCH = Short.MAX_VALUE - 1;

    private static final String ID = "a";

    private static final int INIT_VERSION = 5;
    private static final int TRANSACTION_TIMEOUT_MS = 60_000;
    private static final int REQUESTS_IN_FLIGHT = 500;
    private static final long LIMIT_SECONDS = 30;

    /** Files of a broker that had started {@link #ID} until it was two epochs before the last. */
    @TempDir
    static Path nearTheEnd;

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    private static TestBroker start(Path directory) throws Exception {
        return new TestBroker(directory)
                .with("transaction.state.log.num.partitions", "2")
                .with("offsets.topic.num.partitions", "1")
                .start();
    }

    /** Prepared once for all tests, because it takes tens of thousands of requests. */
    @BeforeAll
    static void useUpEpochs() throws Exception {
        try (TestBroker first = start(nearTheEnd);
                TransactionClient producer = producer(first)) {
            first.createTopic("t", 1, Map.of());
            startUntil(producer, (short) (LAST_EPOCH - 2));
        }
    }

    @BeforeEach
    void start() throws Exception {
        copy(nearTheEnd, dataDirectory);
        broker = start(dataDirectory);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private static TransactionClient producer(TestBroker broker) throws Exception {
        TransactionClient client = new TransactionClient(broker.port(), ID, true);
        client.findCoordinators("g");
        assertThat(client.init()).isEqualTo(ErrorCode.NONE);
        return client;
    }

    /** Starts a producer repeatedly, until it is in {@code epoch}. */
    private static void startUntil(TransactionClient producer, short epoch) throws Exception {
        ArrayDeque<Integer> sent = new ArrayDeque<>();
        int left = epoch - producer.epoch;
        while (left > 0 || !sent.isEmpty()) {
            if (left > 0 && sent.size() < REQUESTS_IN_FLIGHT) {
                sent.add(producer.wire.send(
                        new InitProducerIdRequest()
                                .setTransactionalId(producer.id)
                                .setTransactionTimeoutMs(TRANSACTION_TIMEOUT_MS),
                        INIT_VERSION));
                left--;
            } else {
                InitProducerIdResponse response = producer.wire.receive(
                        InitProducerIdResponse.class, ApiKey.INIT_PRODUCER_ID, INIT_VERSION, sent.remove());
                assertThat(response.errorCode()).isZero();
                assertThat(response.producerId()).isEqualTo(producer.producerId);
                producer.epoch = response.producerEpoch();
            }
        }
        assertThat(producer.epoch).isEqualTo(epoch);
    }

    /** The error for an instance that still has the old producer id. */
    private void assertFenced(TransactionClient old) throws Exception {
        assertThat(old.produce("t", 0, "late"))
                .isIn(ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH);
        assertThat(old.commitOffset("g", "t", 0, 1))
                .isIn(ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH);
        // Not even without asking the coordinator.
        assertThat(old.wire
                        .produce("t", 0, WireClient.batch(1, new byte[1], old.producerId, old.epoch, 0))
                        .errorCode())
                .isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH.code());
    }

    /** Another instance with the current id and epoch of {@code producer}. */
    private TransactionClient twinOf(TransactionClient producer) throws Exception {
        TransactionClient twin = new TransactionClient(broker.port(), producer.id, true);
        twin.producerId = producer.producerId;
        twin.epoch = producer.epoch;
        return twin;
    }

    private List<String> committed(int count) {
        TopicPartition partition = new TopicPartition("t", 0);
        List<String> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", "read_committed"))) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (seen.size() < count && System.nanoTime() < deadlineNanos) {
                consumer.poll(Duration.ofMillis(50))
                        .forEach(record -> seen.add(new String(record.value(), StandardCharsets.UTF_8)));
            }
        }
        return seen;
    }

    @Test
    void shouldGoOnUnderAnotherProducerIdWhenATransactionEndsInTheLastEpoch() throws Exception {
        try (TransactionClient producer = producer(broker)) {
            // given
            startUntil(producer, LAST_EPOCH);
            assertThat(producer.produce("t", 0, "first")).isEqualTo(ErrorCode.NONE);
            TransactionClient old = twinOf(producer);

            // when
            assertThat(producer.end(true)).isEqualTo(ErrorCode.NONE);

            // then
            assertThat(producer.producerId).isGreaterThan(old.producerId);
            assertThat(producer.epoch).isZero();
            producer.awaitIdle();
            assertFenced(old);
            // An instance that missed the response and retries gets the same response.
            assertThat(old.end(true)).isEqualTo(ErrorCode.NONE);
            assertThat(old.producerId).isEqualTo(producer.producerId);
            assertThat(old.epoch).isZero();
            assertThat(producer.produce("t", 0, "second")).isEqualTo(ErrorCode.NONE);
            assertThat(producer.end(false)).isEqualTo(ErrorCode.NONE);
            assertThat(producer.produce("t", 0, "third")).isEqualTo(ErrorCode.NONE);
            assertThat(producer.end(true)).isEqualTo(ErrorCode.NONE);
            assertThat(committed(2)).containsExactly("first", "third");
            old.close();
        }
    }

    @Test
    void shouldGiveAnotherProducerIdWhenAProducerStartsAgainAfterTheLastEpoch() throws Exception {
        try (TransactionClient old = producer(broker)) {
            // given an instance in the last epoch with an open transaction
            startUntil(old, LAST_EPOCH);
            assertThat(old.produce("t", 0, "open")).isEqualTo(ErrorCode.NONE);

            // when
            try (TransactionClient young = producer(broker)) {
                // then
                assertThat(young.producerId).isGreaterThan(old.producerId);
                // It retries while the transaction is being aborted, which gives it the next epoch.
                assertThat(young.epoch).isBetween((short) 0, (short) 1);
                assertFenced(old);
                assertThat(old.end(true)).isIn(ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.PRODUCER_FENCED);
                assertThat(young.produce("t", 0, "kept")).isEqualTo(ErrorCode.NONE);
                assertThat(young.end(true)).isEqualTo(ErrorCode.NONE);
                assertThat(committed(1)).containsExactly("kept");
            }
        }
    }

    @Test
    void shouldCarryAKafkaProducerOverToAnotherProducerId() throws Exception {
        // given
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", ID))) {
            producer.initTransactions();

            // when each transaction increments its epoch, and finally changes its id
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                producer.beginTransaction();
                var unused = producer.send(new ProducerRecord<>("t", ("v" + i).getBytes(StandardCharsets.UTF_8)));
                if (i % 3 == 2) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                    expected.add("v" + i);
                }
            }

            // then
            assertThat(committed(expected.size())).isEqualTo(expected);
        }
        try (TransactionClient next = producer(broker)) {
            assertThat(next.epoch).isLessThan((short) 100);
        }
    }
}
