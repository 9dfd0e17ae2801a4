package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A producer goes on at the next leader at once, because the last one names it in its refusal (KIP-951), and because the
 * next one does not refuse what arrives before it has learned that it leads. Three brokers in processes of their own.
 */
@Tag("long")
@Timeout(1_800)
class NamedLeadersTest {
    private static final int BROKERS = 3;
    private static final int LEADER = 1;
    private static final int SECONDS = 180;
    private static final int MOVES = 12;
    /** For so long, the producer neither repeats a batch nor asks for metadata, unless it knows another leader. */
    private static final int BACKOFF_MS = 5_000;

    private static final String TOPIC = "orders";

    private volatile long longestNanos;
    private volatile long lastNanos;
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

    private static TopicPartitionInfo partition(Admin admin) throws Exception {
        return admin.describeTopics(List.of(TOPIC))
                .allTopicNames()
                .get(SECONDS, TimeUnit.SECONDS)
                .get(TOPIC)
                .partitions()
                .get(0);
    }

    /** Sends up to five records each millisecond, until the test says so. */
    private void send() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers",
                cluster.bootstrapServers(),
                "acks",
                "all",
                "retry.backoff.ms",
                BACKOFF_MS,
                "retry.backoff.max.ms",
                BACKOFF_MS);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; !ended; number++) {
                var unused = producer.send(new ProducerRecord<>(TOPIC, 0, null, "record"), (sent, failure) -> {
                    long nowNanos = System.nanoTime();
                    longestNanos = Math.max(longestNanos, nowNanos - lastNanos);
                    lastNanos = nowNanos;
                });
                if (number % 5 == 0) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The longest time without an acknowledgement since {@link #longestNanos} was 0, in ms. */
    private long longestMs() {
        return TimeUnit.NANOSECONDS.toMillis(Math.max(longestNanos, System.nanoTime() - lastNanos));
    }

    @Test
    void shouldNotLetProducersWaitForTheirBackoffWhenAnotherBrokerLeads() throws Exception {
        try (Admin admin = cluster.admin()) {
            // given a leader at work
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(LEADER, 2, 3)));
            admin.createTopics(List.of(topic)).all().get(SECONDS, TimeUnit.SECONDS);
            ProcessCluster.await(
                    "all replicas in sync", () -> partition(admin).isr().size() == BROKERS);
            Thread sender = new Thread(this::send, "sender");
            sender.start();
            ProcessCluster.await("records", () -> lastNanos != 0);

            // when
            List<Long> waitsMs = new ArrayList<>();
            TopicPartition first = new TopicPartition(TOPIC, 0);
            for (int move = 0; move < MOVES; move++) {
                int next = move % 2 == 0 ? 2 : LEADER;
                NewPartitionReassignment preferring =
                        new NewPartitionReassignment(List.of(next, next == 2 ? LEADER : 2, 3));
                admin.alterPartitionReassignments(Map.of(first, Optional.of(preferring)))
                        .all()
                        .get(SECONDS, TimeUnit.SECONDS);
                ProcessCluster.await(
                        "another preferred leader",
                        () -> partition(admin).replicas().get(0).id() == next);
                longestNanos = 0;
                admin.electLeaders(ElectionType.PREFERRED, Set.of(first)).all().get(SECONDS, TimeUnit.SECONDS);
                ProcessCluster.await(
                        "another leader", () -> partition(admin).leader().id() == next);
                Thread.sleep(BACKOFF_MS / 2);
                waitsMs.add(longestMs());
                ProcessCluster.await(
                        "acknowledgements",
                        () -> System.nanoTime() - lastNanos
                                < Duration.ofMillis(500).toNanos());
            }
            ended = true;
            sender.join();

            // then, unless a broker learns of its leadership much later than the last leader
            assertThat(waitsMs.stream().filter(waitMs -> waitMs > BACKOFF_MS / 4))
                    .as("waits of %s ms", waitsMs)
                    .hasSizeLessThan(MOVES / 3);
        }
    }
}
