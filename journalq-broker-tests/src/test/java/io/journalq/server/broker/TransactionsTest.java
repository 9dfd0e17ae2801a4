package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions, with Kafka's own producer, consumer and administrator. */
class TransactionsTest {
    private static final long LIMIT_SECONDS = 30;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final List<TopicPartition> PARTITIONS =
            List.of(new TopicPartition("t", 0), new TopicPartition("t", 1), new TopicPartition("t", 2));

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("shards", "2")
                .with("group.initial.rebalance.delay.ms", "0")
                .with("transaction.state.log.num.partitions", "3")
                .with("offsets.topic.num.partitions", "3")
                .start();
        broker.createTopic("t", 3, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private KafkaProducer<byte[], byte[]> producer(String id) {
        return producer(id, Map.of());
    }

    private KafkaProducer<byte[], byte[]> producer(String id, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("transactional.id", id);
        settings.put("retry.backoff.ms", 10);
        KafkaProducer<byte[], byte[]> producer = broker.producer(settings);
        producer.initTransactions();
        return producer;
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, int from, int to) {
        for (int i = from; i < to; i++) {
            var unused = producer.send(new ProducerRecord<>("t", i % 3, null, bytes(i)));
        }
    }

    private static byte[] bytes(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    }

    private static int number(ConsumerRecord<byte[], byte[]> record) {
        return Integer.parseInt(new String(record.value(), StandardCharsets.UTF_8));
    }

    private KafkaConsumer<byte[], byte[]> reader(Collection<TopicPartition> partitions) {
        KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", "read_committed"));
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        return consumer;
    }

    @Test
    void shouldPutTheEndOfATransactionOnTheDiskBeforeTheNextBegins() throws Exception {
        // given a broker that fsyncs topics once an hour
        broker.close();
        Set<Path> synced = ConcurrentHashMap.newKeySet();
        broker.with("flush.interval.ms", "3600000").start(new FilterFileStore(new SystemFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void sync() throws IOException {
                        super.sync();
                        synced.add(file.getParent());
                    }
                };
            }
        });
        List<Path> directories;
        try (Admin admin = broker.admin()) {
            String id = admin.describeTopics(List.of("t"))
                    .allTopicNames()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                    .get("t")
                    .topicId()
                    .toString();
            directories = List.of(dataDirectory.resolve(id + "-0"), dataDirectory.resolve(id + "-1"));
        }
        try (KafkaProducer<byte[], byte[]> producer = producer("x")) {
            producer.beginTransaction();
            send(producer, 0, 2);
            producer.flush();
            assertThat(synced).doesNotContainAnyElementsOf(directories);

            // when
            producer.abortTransaction();
            producer.beginTransaction();
            send(producer, 2, 3);
            producer.commitTransaction();
        }

        // then
        assertThat(synced).containsAll(directories);
    }

    /** Reads all committed records. */
    private List<Integer> readCommitted(List<TopicPartition> partitions) {
        try (KafkaConsumer<byte[], byte[]> consumer = reader(partitions)) {
            List<Integer> seen = new ArrayList<>();
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
                assertThat(System.nanoTime()).as("time left").isLessThan(deadlineNanos);
                consumer.poll(POLL).forEach(record -> seen.add(number(record)));
            }
            seen.sort(null);
            return seen;
        }
    }

    private static List<Integer> range(int from, int to) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = from; i < to; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    @Test
    void shouldShowReadersOfCommittedRecordsWhatWasCommittedAndNothingElse() {
        try (KafkaProducer<byte[], byte[]> producer = producer("a")) {
            // given a committed, an aborted and an open transaction
            producer.beginTransaction();
            send(producer, 0, 10);
            producer.commitTransaction();
            producer.beginTransaction();
            send(producer, 10, 20);
            producer.flush();
            producer.abortTransaction();
            producer.beginTransaction();
            send(producer, 20, 30);
            producer.flush();

            // then
            broker.awaitQuietly(() -> readCommitted(PARTITIONS).equals(range(0, 10)));

            // when
            producer.commitTransaction();

            // then
            List<Integer> expected = range(0, 10);
            expected.addAll(range(20, 30));
            broker.awaitQuietly(() -> readCommitted(PARTITIONS).equals(expected));
        }
    }

    @Test
    void shouldFenceAnOldInstanceAndAbortItsTransaction() {
        try (KafkaProducer<byte[], byte[]> old = producer("a")) {
            // given
            old.beginTransaction();
            send(old, 0, 3);
            old.flush();

            // when
            try (KafkaProducer<byte[], byte[]> young = producer("a")) {
                young.beginTransaction();
                send(young, 10, 13);
                young.commitTransaction();

                // then
                send(old, 3, 6);
                assertThatThrownBy(old::commitTransaction).isInstanceOf(KafkaException.class);
                broker.awaitQuietly(() -> readCommitted(PARTITIONS).equals(range(10, 13)));
            }
        }
    }

    @Test
    void shouldGoOnAfterARestartInTheMiddleOfATransaction() throws Exception {
        int port = broker.port();
        try (KafkaProducer<byte[], byte[]> producer = producer("a")) {
            producer.beginTransaction();
            send(producer, 0, 3);
            producer.flush();

            broker.stop();
            broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();

            send(producer, 3, 6);
            producer.commitTransaction();
        }
        broker.awaitQuietly(() -> readCommitted(PARTITIONS).equals(range(0, 6)));
    }

    @Test
    void shouldCopyEveryRecordExactlyOnceThroughRestartsAndAborts() throws Exception {
        // given
        int count = 150;
        int port = broker.port();
        broker.createTopic("copy", 2, Map.of());
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            send(producer, 0, count);
        }

        // when a copying process is replaced and the broker restarted repeatedly
        for (int round = 0; copied() < count; round++) {
            assertThat(round).isLessThan(40);
            copy(round);
            if (round % 3 == 1) {
                broker.stop();
                broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();
            }
        }

        // then
        assertThat(readCommitted(copies())).isEqualTo(range(0, count));
    }

    private static List<TopicPartition> copies() {
        return List.of(new TopicPartition("copy", 0), new TopicPartition("copy", 1));
    }

    private int copied() {
        return readCommitted(copies()).size();
    }

    /** Copies a part in transactions of a few records, aborts one, and leaves one open. */
    private void copy(int round) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("group.id", "copiers");
        settings.put("isolation.level", "read_committed");
        settings.put("max.poll.records", 20);
        KafkaProducer<byte[], byte[]> producer = producer("copier");
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(settings)) {
            consumer.assign(PARTITIONS);
            for (int step = 0; step < 3; step++) {
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                ConsumerRecords<byte[], byte[]> records = step == 0 ? pollSome(consumer) : consumer.poll(POLL);
                producer.beginTransaction();
                records.forEach(record -> {
                    var unused = producer.send(new ProducerRecord<>("copy", number(record) % 2, null, record.value()));
                    offsets.put(
                            new TopicPartition(record.topic(), record.partition()),
                            new OffsetAndMetadata(record.offset() + 1));
                });
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                if (step < 2 && (round + step) % 4 != 3) {
                    producer.commitTransaction();
                } else if (step < 2) {
                    producer.abortTransaction();
                    return;
                } else {
                    producer.flush();
                }
            }
        } finally {
            // Without waiting, like a process that is killed.
            producer.close(Duration.ZERO);
        }
    }

    private static ConsumerRecords<byte[], byte[]> pollSome(KafkaConsumer<byte[], byte[]> consumer) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        while (records.isEmpty()) {
            assertThat(System.nanoTime()).as("time left").isLessThan(deadlineNanos);
            records = consumer.poll(POLL);
        }
        return records;
    }

    @Test
    void shouldAbortATransactionThatTakesTooLong() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer("a", Map.of("transaction.timeout.ms", 500));
                Admin admin = broker.admin()) {
            producer.beginTransaction();
            send(producer, 0, 3);
            producer.flush();

            broker.await(() -> state(admin, "a") == TransactionState.COMPLETE_ABORT);

            send(producer, 3, 6);
            assertThatThrownBy(producer::commitTransaction).isInstanceOf(KafkaException.class);
            assertThat(readCommitted(PARTITIONS)).isEmpty();
        }
    }

    private static TransactionState state(Admin admin, String id) {
        try {
            return admin.describeTransactions(List.of(id))
                    .description(id)
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                    .state();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldDescribeAndListTransactions() throws Exception {
        producer("idle").close();
        try (KafkaProducer<byte[], byte[]> open = producer("open");
                Admin admin = broker.admin()) {
            open.beginTransaction();
            send(open, 0, 2);
            open.flush();

            var description = admin.describeTransactions(List.of("open"))
                    .description("open")
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(description.state()).isEqualTo(TransactionState.ONGOING);
            assertThat(description.topicPartitions()).containsExactlyInAnyOrderElementsOf(PARTITIONS.subList(0, 2));
            assertThat(description.transactionStartTimeMs()).isPresent();
            assertThat(state(admin, "idle")).isEqualTo(TransactionState.EMPTY);
            assertThatThrownBy(() -> admin.describeTransactions(List.of("none"))
                            .description("none")
                            .get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TransactionalIdNotFoundException.class);
            assertThat(admin.listTransactions().all().get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .extracting(TransactionListing::transactionalId)
                    .containsExactlyInAnyOrder("open", "idle");
            assertThat(admin.listTransactions(
                                    new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)))
                            .all()
                            .get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .extracting(TransactionListing::transactionalId)
                    .containsExactly("open");
            open.abortTransaction();
        }
    }

    @Test
    void shouldFenceProducersOnDemand() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer("a");
                Admin admin = broker.admin()) {
            producer.beginTransaction();
            send(producer, 0, 3);
            producer.flush();

            admin.fenceProducers(List.of("a")).all().get(LIMIT_SECONDS, TimeUnit.SECONDS);

            send(producer, 3, 6);
            assertThatThrownBy(producer::commitTransaction).isInstanceOf(KafkaException.class);
            assertThat(readCommitted(PARTITIONS)).isEmpty();
        }
    }
}
