package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.server.process.LoopbackPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumers that name their rack read from the follower there (KIP-392), and from the leader when it dies. Three brokers
 * in three racks, in processes of their own.
 */
@Tag("long")
@Timeout(1_800)
class NearestReplicaTest {
    private static final Logger log = LoggerFactory.getLogger(NearestReplicaTest.class);

    private static final int BROKERS = 3;
    private static final int LEADER = 1;
    private static final int NEAREST = 2;
    private static final String TOPIC = "orders";
    private static final String RACK = "rack-" + NEAREST;

    private final Map<Integer, Integer> adminPorts = new TreeMap<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private final Set<String> sent = new TreeSet<>();
    private final List<String> read = new ArrayList<>();
    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        for (int id = 1; id <= BROKERS; id++) {
            adminPorts.put(id, LoopbackPorts.next());
            cluster.set(id, "broker.rack", "rack-" + id);
            cluster.set(id, "admin.listener", "127.0.0.1:" + adminPorts.get(id));
        }
        cluster.startAll(BROKERS);
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(LEADER, NEAREST, 3)))
                    .configs(Map.of("delivery.mode", "eventual", "min.insync.replicas", "2"));
            admin.createTopics(List.of(topic)).all().get(180, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    private void send(int count) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                String value = "record " + sent.size();
                sent.add(value);
                producer.send(new ProducerRecord<>(TOPIC, 0, null, value)).get(180, TimeUnit.SECONDS);
            }
        }
    }

    /** Number of records of the topic that consumers and replicas have fetched from a broker. */
    private long fetched(int broker) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + adminPorts.get(broker) + "/metrics"))
                .build();
        return http.send(request, BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.startsWith("journalq_topic_fetched_records_total{topic=\"" + TOPIC + "\"}"))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private Map<String, Object> consumerSettings() {
        return Map.of(
                "bootstrap.servers",
                cluster.bootstrapServers(),
                "client.rack",
                RACK,
                "auto.offset.reset",
                "earliest",
                "isolation.level",
                "read_committed");
    }

    @Test
    void shouldReadFromTheFollowerInTheRackAndGoOnWhenItDiesWithKafkasConsumer() throws Exception {
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(consumerSettings(), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(new TopicPartition(TOPIC, 0)));
            shouldReadFromTheFollower(
                    () -> consumer.poll(Duration.ofMillis(200)).forEach(record -> read.add(record.value())));
        }
    }

    @Test
    void shouldReadFromTheFollowerInTheRackAndGoOnWhenItDiesWithJournalQsConsumer() throws Exception {
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .rack(RACK)
                .isolation(Consumer.Isolation.READ_COMMITTED)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(new io.journalq.common.id.TopicPartition(TOPIC, 0)));
            shouldReadFromTheFollower(() -> consumer.poll(Duration.ofMillis(200))
                    .forEach(record -> read.add(new String(record.value(), StandardCharsets.UTF_8))));
        }
    }

    /** Sends a transaction that is aborted, and one that is committed. */
    private void sendTransactions(int count) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "transactional.id", "copier"),
                new StringSerializer(),
                new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>(TOPIC, 0, null, "aborted " + i))
                        .get(180, TimeUnit.SECONDS);
            }
            producer.abortTransaction();
            producer.beginTransaction();
            for (int i = 0; i < count; i++) {
                String value = "committed " + i;
                sent.add(value);
                producer.send(new ProducerRecord<>(TOPIC, 0, null, value)).get(180, TimeUnit.SECONDS);
            }
            producer.commitTransaction();
        }
    }

    private void shouldReadFromTheFollower(Runnable poll) throws Exception {
        // when it reads what is there, and what is sent while it waits
        send(100);
        await(poll);
        sendTransactions(50);
        await(poll);

        // then the follower serves it: no other replica fetches from a follower
        ProcessCluster.await("reads from the follower", () -> {
            send(10);
            await(poll);
            return fetched(NEAREST) >= 100;
        });

        // and when the follower dies, the consumer reads from the leader
        long killedNanos = System.nanoTime();
        cluster.kill(NEAREST);
        send(100);
        await(poll);
        log.warn("measured: allReadMs={}", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killedNanos));

        // and when it is back and in sync, from there again
        cluster.start(NEAREST);
        ProcessCluster.await("reads from the follower that is back", () -> {
            send(10);
            await(poll);
            return fetched(NEAREST) > 0;
        });
        assertThat(read).containsExactlyInAnyOrderElementsOf(sent);
    }

    private void await(Runnable poll) throws Exception {
        ProcessCluster.await("all records", () -> {
            poll.run();
            return read.size() >= sent.size();
        });
    }
}
