package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Acks;
import io.journalq.client.Producer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three brokers in processes of their own. One is killed or frozen while two clients send records with acks=all.
 * {@code bin/journalq-chaos failover} measures for how long nothing is acknowledged.
 */
@Tag("long")
class FailoverTest {
    private static final Logger log = LoggerFactory.getLogger(FailoverTest.class);

    private static final int WAIT_SECONDS = 60;
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 3;
    private static final int PAUSE_MS = 10;
    private static final int REQUEST_TIMEOUT_MS = 1_500;
    private static final String TOPIC = "orders";
    /** The goals are 1.5 s to 5 s on a quiet machine. */
    private static final long LONGEST_GAP_MS = 10_000;

    private final List<Client> clients = new ArrayList<>();

    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(1, 2, 3), 1, List.of(2, 3, 1), 2, List.of(3, 1, 2)))
                    .configs(Map.of("min.insync.replicas", "2", "delivery.mode", "eventual"));
            admin.createTopics(List.of(topic)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void close() {
        clients.forEach(Client::end);
        cluster.close();
    }

    /** Sends a record to each partition every 10 ms, and remembers when and where each was acknowledged. */
    private abstract static class Client extends Thread {
        private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
        private final List<ConcurrentLinkedQueue<Long>> times = new ArrayList<>();
        private volatile boolean ended;

        Client(String name) {
            super(name);
            setDaemon(true);
            for (int partition = 0; partition < PARTITIONS; partition++) {
                times.add(new ConcurrentLinkedQueue<>());
            }
        }

        @Override
        public void run() {
            try {
                for (int number = 0; !ended; number++) {
                    for (int partition = 0; partition < PARTITIONS; partition++) {
                        send(partition, getName() + "-" + partition + "-" + number);
                    }
                    Thread.sleep(PAUSE_MS);
                }
            } catch (Exception failure) {
                log.error("a client has failed", failure);
            }
        }

        abstract void send(int partition, String value) throws Exception;

        abstract void close();

        void onAcknowledged(int partition, long offset, String value) {
            acknowledged.put(partition + "@" + offset, value);
            times.get(partition).add(System.nanoTime());
        }

        /** The longest time without an acknowledgement since {@code sinceNanos}, in milliseconds. */
        long longestGapMs(int partition, long sinceNanos) {
            long before = sinceNanos;
            long longest = 0;
            List<Long> all = new ArrayList<>(times.get(partition));
            all.add(System.nanoTime());
            for (long time : all) {
                if (time > sinceNanos) {
                    longest = Math.max(longest, time - before);
                    before = time;
                }
            }
            return TimeUnit.NANOSECONDS.toMillis(longest);
        }

        void end() {
            ended = true;
            close();
        }
    }

    private final class KafkaClient extends Client {
        private final KafkaProducer<String, String> producer;

        KafkaClient() {
            super("kafka-clients");
            producer = new KafkaProducer<>(
                    Map.of(
                            "bootstrap.servers",
                            cluster.bootstrapServers(),
                            "acks",
                            "all",
                            "request.timeout.ms",
                            REQUEST_TIMEOUT_MS,
                            "delivery.timeout.ms",
                            60_000),
                    new StringSerializer(),
                    new StringSerializer());
        }

        @Override
        void send(int partition, String value) {
            var unused = producer.send(new ProducerRecord<>(TOPIC, partition, null, value), (metadata, failure) -> {
                if (failure == null) {
                    onAcknowledged(partition, metadata.offset(), value);
                }
            });
        }

        @Override
        void close() {
            producer.close();
        }
    }

    private final class OwnClient extends Client {
        private final Producer producer;

        OwnClient() {
            super("journalq-client");
            producer = Producer.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .acks(Acks.ALL)
                    .requestTimeout(Duration.ofMillis(REQUEST_TIMEOUT_MS))
                    .build();
        }

        @Override
        void send(int partition, String value) {
            var unused = producer.sendAsync(io.journalq.client.record.ProducerRecord.of(
                            TOPIC, partition, null, value.getBytes(StandardCharsets.UTF_8)))
                    .thenAccept(metadata -> onAcknowledged(partition, metadata.offset(), value));
        }

        @Override
        void close() {
            producer.close();
        }
    }

    private TopicDescription describe() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTopics(List.of(TOPIC))
                    .allTopicNames()
                    .get(10, TimeUnit.SECONDS)
                    .get(TOPIC);
        }
    }

    private int controller() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeCluster()
                    .controller()
                    .get(10, TimeUnit.SECONDS)
                    .id();
        }
    }

    /** A broker that was frozen may show old metadata, in which it is in sync. It can lead a moment later. */
    private void awaitAllInSync() throws Exception {
        ProcessCluster.await("full in-sync replicas", () -> describe().partitions().stream()
                .allMatch(partition -> partition.isr().size() == BROKERS));
        ProcessCluster.await("preferred leaders", () -> {
            try (Admin admin = cluster.admin()) {
                admin.electLeaders(ElectionType.PREFERRED, null).all().get(10, TimeUnit.SECONDS);
            }
            return describe().partitions().stream()
                    .allMatch(partition -> partition.leader() != null
                            && partition.leader().id()
                                    == partition.replicas().get(0).id());
        });
    }

    /** Kills or freezes a broker, and returns for how long no client got an acknowledgement of what it had led. */
    private long fault(int victim, boolean freezes) throws Exception {
        // Clients are at work before.
        Thread.sleep(1_000);
        long faultNanos = System.nanoTime();
        if (freezes) {
            cluster.freeze(victim);
        } else {
            cluster.kill(victim);
        }
        int led = victim - 1;
        ProcessCluster.await("acknowledgements of partition " + led, () -> clients.stream()
                .allMatch(client -> client.times.get(led).stream()
                        .anyMatch(time -> time > faultNanos + TimeUnit.MILLISECONDS.toNanos(500)
                                && System.nanoTime() - time > TimeUnit.SECONDS.toNanos(2))));
        return clients.stream()
                .mapToLong(client -> client.longestGapMs(led, faultNanos))
                .max()
                .orElseThrow();
    }

    @Test
    void shouldAcknowledgeAgainSoonAndLoseNothingWhenLeadersAreKilledAndFrozen() throws Exception {
        clients.add(new KafkaClient());
        clients.add(new OwnClient());
        clients.forEach(Thread::start);
        List<Long> gaps = new ArrayList<>();

        // a leader that is killed
        int controller = controller();
        int other = controller % BROKERS + 1;
        gaps.add(fault(other, false));
        cluster.start(other);
        awaitAllInSync();

        // a controller that is killed
        controller = controller();
        gaps.add(fault(controller, false));
        cluster.start(controller);
        awaitAllInSync();

        // a leader that is frozen, and goes on later
        other = controller() % BROKERS + 1;
        gaps.add(fault(other, true));
        cluster.thaw(other);
        awaitAllInSync();

        clients.forEach(Client::end);

        // then
        assertThat(Collections.max(gaps)).isLessThan(LONGEST_GAP_MS);
        Map<String, String> read = readAll();
        for (Client client : clients) {
            assertThat(client.acknowledged).as(client.getName()).hasSizeGreaterThan(100);
            client.acknowledged.forEach(
                    (offset, value) -> assertThat(read.get(offset)).as(offset).isEqualTo(value));
        }
        ProcessCluster.await("equal journals", this::areReplicasEqual);
    }

    @Test
    void shouldTakeThePlaceOfItsPredecessorWhenItStartsWithoutDataBeforeThatIsFenced() throws Exception {
        clients.add(new KafkaClient());
        clients.forEach(Thread::start);
        int victim = controller() % BROKERS + 1;
        ProcessCluster.await("records", () -> clients.get(0).acknowledged.size() > 100);

        // when
        cluster.kill(victim);
        delete(cluster.data(victim));
        cluster.start(victim);

        // then
        awaitAllInSync();
        clients.forEach(Client::end);
        Map<String, String> read = readAll();
        clients.get(0).acknowledged.forEach((offset, value) -> assertThat(read.get(offset))
                .as(offset)
                .isEqualTo(value));
        ProcessCluster.await("equal journals", this::areReplicasEqual);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldStopWhenToldAlthoughItWaitsForAQuorum() throws Exception {
        // given a broker that starts alone, and cannot register
        for (int id = 1; id <= BROKERS; id++) {
            cluster.kill(id);
        }
        cluster.start(2);
        ProcessCluster.await(
                "a broker that waits", () -> Files.readString(cluster.log(2)).contains("waits for a controller"));

        // when
        boolean stopped = cluster.stop(2, 20);

        // then
        assertThat(stopped).isTrue();
    }

    /** All records from the beginning up to the high watermarks, by partition and offset. */
    private Map<String, String> readAll() {
        Map<String, String> read = new TreeMap<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers()),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                partitions.add(new TopicPartition(TOPIC, i));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, Duration.ofSeconds(WAIT_SECONDS));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (System.nanoTime() < deadline
                    && !partitions.stream().allMatch(one -> consumer.position(one) >= ends.get(one))) {
                for (ConsumerRecord<String, String> found : consumer.poll(Duration.ofMillis(200))) {
                    read.put(found.partition() + "@" + found.offset(), found.value());
                }
            }
        }
        return read;
    }

    private boolean areReplicasEqual() throws Exception {
        String topicId = describe().topicId().toString();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            byte[] first = journal(cluster.data(1).resolve(topicId + "-" + partition));
            for (int id = 2; id <= BROKERS; id++) {
                if (!Arrays.equals(first, journal(cluster.data(id).resolve(topicId + "-" + partition)))) {
                    return false;
                }
            }
        }
        return true;
    }

    private static byte[] journal(Path partition) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Stream<Path> files = Files.list(partition)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".log"))
                    .sorted()
                    .toList()) {
                bytes.writeBytes(Files.readAllBytes(file));
            }
        }
        return bytes.toByteArray();
    }
}
