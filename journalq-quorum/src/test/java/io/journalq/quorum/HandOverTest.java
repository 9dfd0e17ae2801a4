package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A leader that stops loses nothing that it has acknowledged alone, with acks=1, and a leader that is replaced has sent
 * everything to the next one. Three brokers in processes of their own.
 */
@Tag("long")
@Timeout(1_800)
class HandOverTest {
    private static final int BROKERS = 3;
    private static final int LEADER = 1;
    private static final int SECONDS = 180;
    private static final int MOVES = 10;
    private static final String TOPIC = "orders";

    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
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

    private TopicPartitionInfo partition() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTopics(List.of(TOPIC))
                    .allTopicNames()
                    .get(SECONDS, TimeUnit.SECONDS)
                    .get(TOPIC)
                    .partitions()
                    .get(0);
        }
    }

    /** Sends up to 10 records each millisecond, until the test says so. A record that is sent again can be there twice. */
    private void send() {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "acks", "1", "enable.idempotence", false);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; !ended; number++) {
                String value = "record " + number;
                var unused = producer.send(new ProducerRecord<>(TOPIC, 0, null, value), (sent, failure) -> {
                    if (failure == null) {
                        acknowledged.add(value);
                    }
                });
                if (number % 10 == 0) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Set<String> readAll() throws Exception {
        Set<String> read = new HashSet<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer())) {
            TopicPartition first = new TopicPartition(TOPIC, 0);
            consumer.assign(List.of(first));
            long end = consumer.endOffsets(List.of(first)).get(first);
            consumer.seekToBeginning(List.of(first));
            ProcessCluster.await("all records", () -> {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> read.add(record.value()));
                return consumer.position(first) >= end;
            });
        }
        return read;
    }

    @ParameterizedTest
    @ValueSource(strings = {"eventual", "performance"})
    void shouldKeepWhatOnlyTheLeaderHadAcknowledgedWhenItStops(String mode) throws Exception {
        // given a leader at work
        try (Admin admin = cluster.admin()) {
            NewTopic topic =
                    new NewTopic(TOPIC, Map.of(0, List.of(LEADER, 2, 3))).configs(Map.of("delivery.mode", mode));
            admin.createTopics(List.of(topic)).all().get(SECONDS, TimeUnit.SECONDS);
        }
        ProcessCluster.await("all replicas in sync", () -> partition().isr().size() == BROKERS);
        Thread sender = new Thread(this::send, "sender");
        sender.start();
        ProcessCluster.await("records", () -> acknowledged.size() > 2_000);

        // when
        boolean stopped = cluster.stop(LEADER, SECONDS);

        // then
        assertThat(stopped).isTrue();
        int before = acknowledged.size();
        ProcessCluster.await("records of the next leader", () -> acknowledged.size() > before + 1_000);
        ended = true;
        sender.join();
        Set<String> lost = new TreeSet<>(acknowledged);
        lost.removeAll(readAll());
        assertThat(lost).as("lost of %d", acknowledged.size()).isEmpty();
    }

    /**
     * Elects the preferred leader, unless it leads already because the controller has not heard from the last one in
     * time.
     */
    private static void elect(Admin admin, TopicPartition partition) throws Exception {
        try {
            admin.electLeaders(ElectionType.PREFERRED, Set.of(partition)).all().get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failure) {
            assertThat(failure).hasCauseInstanceOf(ElectionNotNeededException.class);
        }
    }

    private long cuts() throws IOException {
        long cuts = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.log")) {
            for (Path file : files) {
                cuts += Files.readAllLines(file).stream()
                        .filter(line -> line.contains("the end of the log differs from the leader's"))
                        .count();
            }
        }
        return cuts;
    }

    @Test
    void shouldMakeNoReplicaRemoveRecordsWhenAnotherBrokerLeads() throws Exception {
        // given a leader at work
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(LEADER, 2, 3)));
            admin.createTopics(List.of(topic)).all().get(SECONDS, TimeUnit.SECONDS);
            ProcessCluster.await("all replicas in sync", () -> partition().isr().size() == BROKERS);
            Thread sender = new Thread(this::send, "sender");
            sender.start();
            ProcessCluster.await("records", () -> acknowledged.size() > 2_000);

            // when
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
                        () -> partition().replicas().get(0).id() == next);
                elect(admin, first);
                ProcessCluster.await(
                        "another leader", () -> partition().leader().id() == next);
                int before = acknowledged.size();
                ProcessCluster.await("records of the next leader", () -> acknowledged.size() > before + 1_000);
            }
            ended = true;
            sender.join();
        }

        // then, unless a broker learns of its leadership more than 200 ms before the last leader
        assertThat(cuts()).isLessThan(MOVES / 2);
    }
}
