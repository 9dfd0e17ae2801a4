package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Leaders move all the time while idempotent producers send: each message is acknowledged in time, and is there once, in
 * order. Three brokers in processes of their own.
 */
@Tag("long")
@Timeout(1_800)
class MovedLeadersTest {
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 6;
    private static final int PRODUCERS = 2;
    private static final int MOVING_SECONDS = 60;
    private static final int PAUSE_MS = 150;
    private static final int SECONDS = 180;
    private static final int SENT_PER_MS = 2;
    private static final int SENT_BY_A_CLIENT = 2_000;

    /** A batch that no broker accepts any more expires after this. */
    private static final int DELIVERY_TIMEOUT_MS = 20_000;

    private static final int REQUEST_TIMEOUT_MS = 5_000;
    private static final String TOPIC = "orders";

    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger[][] sent = new AtomicInteger[PRODUCERS][PARTITIONS];
    private volatile boolean ended;
    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void shouldAcknowledgeEverythingInTimeAndOnceWhileLeadersMove() throws Exception {
        // given
        try (Admin admin = cluster.admin()) {
            admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) BROKERS)
                            .configs(Map.of("min.insync.replicas", "2"))))
                    .all()
                    .get(SECONDS, TimeUnit.SECONDS);
            List<Thread> senders = new ArrayList<>();
            for (int producer = 0; producer < PRODUCERS; producer++) {
                int number = producer;
                Thread sender = new Thread(() -> send(number), "sender-" + number);
                senders.add(sender);
                sender.start();
            }

            // when
            moveLeaders(admin);
            ended = true;
            for (Thread sender : senders) {
                sender.join();
            }
        }

        // then
        assertThat(failures).isEmpty();
        readEverything();
    }

    /** Sends the numbers 0, 1, 2 and so on to each partition, by one client after the other, until the test says so. */
    private void send(int producer) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            sent[producer][partition] = new AtomicInteger();
        }
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                cluster.bootstrapServers(),
                "request.timeout.ms",
                REQUEST_TIMEOUT_MS,
                "delivery.timeout.ms",
                DELIVERY_TIMEOUT_MS);
        try {
            while (!ended) {
                try (KafkaProducer<byte[], byte[]> client =
                        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
                    for (int number = 0; number < SENT_BY_A_CLIENT && !ended; number++) {
                        send(client, producer, number % PARTITIONS);
                        if (number % SENT_PER_MS == 0) {
                            Thread.sleep(1);
                        }
                    }
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void send(KafkaProducer<byte[], byte[]> client, int producer, int partition) {
        byte[] value = ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(producer)
                .putInt(sent[producer][partition].getAndIncrement())
                .array();
        var unused = client.send(new ProducerRecord<>(TOPIC, partition, null, value), (metadata, failure) -> {
            if (failure != null) {
                failures.add(failure.toString());
            }
        });
    }

    private void moveLeaders(Admin admin) throws Exception {
        Random random = new Random(1);
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOVING_SECONDS);
        while (System.nanoTime() < endNanos && failures.isEmpty()) {
            Thread.sleep(PAUSE_MS);
            Map<TopicPartition, Optional<NewPartitionReassignment>> preferred = new HashMap<>();
            for (int move = random.nextInt(PARTITIONS); move >= 0; move--) {
                int first = random.nextInt(BROKERS);
                preferred.put(
                        new TopicPartition(TOPIC, random.nextInt(PARTITIONS)),
                        Optional.of(new NewPartitionReassignment(
                                List.of(1 + first, 1 + (first + 1) % BROKERS, 1 + (first + 2) % BROKERS))));
            }
            admin.alterPartitionReassignments(preferred).all().get(SECONDS, TimeUnit.SECONDS);
            try {
                admin.electLeaders(ElectionType.PREFERRED, new HashSet<>(preferred.keySet()))
                        .all()
                        .get(SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException failed) {
                if (!(failed.getCause() instanceof ElectionNotNeededException)) {
                    throw failed;
                }
            }
        }
    }

    private void readEverything() {
        Set<TopicPartition> partitions = new HashSet<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.add(new TopicPartition(TOPIC, partition));
        }
        int[][] next = new int[PRODUCERS][PARTITIONS];
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.seekToBeginning(partitions);
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                for (ConsumerRecord<byte[], byte[]> read : consumer.poll(Duration.ofMillis(200))) {
                    ByteBuffer value = ByteBuffer.wrap(read.value());
                    int producer = value.getInt();
                    assertThat(value.getInt())
                            .as("producer %d, partition %d, offset %d", producer, read.partition(), read.offset())
                            .isEqualTo(next[producer][read.partition()]++);
                }
            }
        }
        for (int producer = 0; producer < PRODUCERS; producer++) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertThat(next[producer][partition])
                        .as("producer %d, partition %d", producer, partition)
                        .isEqualTo(sent[producer][partition].get());
            }
        }
    }
}
