package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.process.LoopbackPorts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three brokers replicate the partitions of a topic. */
@Tag("long")
class ReplicationTest {
    private static final int WAIT_SECONDS = 60;
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 3_000;

    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, Broker> brokers = new TreeMap<>();

    private String topic = "orders";

    @TempDir
    Path directory;

    @BeforeEach
    void startThree() throws Exception {
        for (int id = 1; id <= BROKERS; id++) {
            ports.put(id, LoopbackPorts.next());
            start(id);
        }
        try (Admin admin = Admin.create(clients())) {
            NewTopic created =
                    new NewTopic(topic, PARTITIONS, (short) BROKERS).configs(Map.of("min.insync.replicas", "2"));
            admin.createTopics(List.of(created)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void close() {
        brokers.values().forEach(Broker::close);
    }

    private void start(int id) throws Exception {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("node.id", Integer.toString(id));
        settings.put("listeners", "PLAINTEXT://127.0.0.1:" + ports.get(id));
        settings.put("admin.listener", "");
        settings.put("gateway.listener", "");
        settings.put("shutdown.timeout.ms", "3000");
        settings.put("replica.lag.time.max.ms", "2000");
        settings.put("scrub.interval.ms", "500");
        settings.put("data.directories", data(id).toString());
        settings.put("quorum.listener", "127.0.0.1:" + quorumPort(id));
        settings.put("cluster.join", id == 1 ? "" : "127.0.0.1:" + ports.get(1));
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        brokers.put(id, Broker.start(config));
    }

    private final Map<Integer, Integer> quorumPorts = new TreeMap<>();

    private int quorumPort(int id) {
        return quorumPorts.computeIfAbsent(id, unused -> LoopbackPorts.next());
    }

    private Path data(int id) {
        return directory.resolve("broker" + id);
    }

    private Map<String, Object> clients() {
        List<String> addresses = new ArrayList<>();
        ports.values().forEach(port -> addresses.add("127.0.0.1:" + port));
        return new TreeMap<>(Map.of("bootstrap.servers", String.join(",", addresses)));
    }

    private KafkaProducer<String, String> producer() {
        Map<String, Object> settings = clients();
        settings.put("acks", "all");
        settings.put("delivery.timeout.ms", 60_000);
        settings.put("linger.ms", 5);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private TopicDescription describe() throws Exception {
        try (Admin admin = Admin.create(clients())) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(topic);
        }
    }

    /** Sends records; returns them by partition and offset once all are acknowledged. */
    private Map<String, String> send(KafkaProducer<String, String> producer, String prefix, int count)
            throws Exception {
        Map<String, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String value = prefix + i;
            sent.put(value, producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, value)));
        }
        Map<String, String> acknowledged = new TreeMap<>();
        for (Map.Entry<String, Future<RecordMetadata>> one : sent.entrySet()) {
            RecordMetadata metadata = one.getValue().get(WAIT_SECONDS, TimeUnit.SECONDS);
            acknowledged.put(metadata.partition() + "@" + metadata.offset(), one.getKey());
        }
        return acknowledged;
    }

    /** All records from the beginning up to the high watermarks, by partition and offset. */
    private Map<String, String> readAll() {
        Map<String, String> read = new TreeMap<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(clients(), new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                partitions.add(new TopicPartition(topic, i));
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

    private static byte[] journal(Path data, String partition) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Stream<Path> files = Files.list(data.resolve(partition))) {
            for (Path file : files.filter(one -> one.toString().endsWith(".log"))
                    .sorted()
                    .toList()) {
                bytes.writeBytes(Files.readAllBytes(file));
            }
        }
        return bytes.toByteArray();
    }

    private boolean areReplicasEqual() throws Exception {
        String topicId = topicId();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            byte[] first = journal(data(1), topicId + "-" + partition);
            for (int id = 2; id <= BROKERS; id++) {
                if (!Arrays.equals(first, journal(data(id), topicId + "-" + partition))) {
                    return false;
                }
            }
        }
        return true;
    }

    private String topicId() throws Exception {
        return describe().topicId().toString();
    }

    private boolean areAllInSync() throws Exception {
        return describe().partitions().stream()
                .allMatch(partition -> partition.isr().size() == BROKERS);
    }

    @Test
    void shouldHoldTheSameBytesOnEveryBrokerWhenAllAcknowledge() throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            // when
            Map<String, String> acknowledged = send(producer, "a", RECORDS);

            // then
            assertThat(acknowledged).hasSize(RECORDS);
            assertThat(readAll()).isEqualTo(acknowledged);
            ProcessCluster.await("equal journals", this::areReplicasEqual);
            assertThat(describe().partitions())
                    .allSatisfy(partition -> assertThat(partition.isr()).hasSize(BROKERS));
        }
    }

    @Test
    void shouldReplicateInTheOtherDeliveryModesWhenAFollowerStopsAndStartsAgain() throws Exception {
        for (String mode : List.of("consistent", "performance")) {
            topic = mode;
            try (Admin admin = Admin.create(clients())) {
                NewTopic created = new NewTopic(topic, PARTITIONS, (short) BROKERS)
                        .configs(Map.of("min.insync.replicas", "2", "delivery.mode", mode));
                admin.createTopics(List.of(created)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
            try (KafkaProducer<String, String> producer = producer()) {
                // given
                ProcessCluster.await("full in-sync replicas", this::areAllInSync);
                Map<String, String> acknowledged = send(producer, "a", RECORDS);

                // when
                int follower = leaderOf(0) == BROKERS ? BROKERS - 1 : BROKERS;
                brokers.remove(follower).close();
                acknowledged.putAll(send(producer, "b", RECORDS));
                start(follower);

                // then
                ProcessCluster.await("full in-sync replicas", this::areAllInSync);
                ProcessCluster.await("equal journals", this::areReplicasEqual);
                assertThat(readAll()).as(mode).isEqualTo(acknowledged);
            }
        }
    }

    @Test
    void shouldLeaveAndJoinTheInSyncReplicasWhenAFollowerStopsAndStartsAgain() throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            Map<String, String> acknowledged = send(producer, "a", RECORDS);
            int leader = leaderOf(0);
            int follower = leader == BROKERS ? BROKERS - 1 : BROKERS;

            // when a broker that does not lead partition 0 is stopped
            brokers.remove(follower).close();

            // then the others go on, without those partitions that it leads
            for (int i = 0; i < 10; i++) {
                RecordMetadata metadata = producer.send(new ProducerRecord<>(topic, 0, null, "b" + i))
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
                acknowledged.put(metadata.partition() + "@" + metadata.offset(), "b" + i);
            }
            assertThat(describe().partitions().get(0).isr()).hasSize(BROKERS - 1);

            // and when it is started again, it catches up
            start(follower);
            ProcessCluster.await("full in-sync replicas", this::areAllInSync);
            ProcessCluster.await("equal journals", this::areReplicasEqual);
            assertThat(readAll()).isEqualTo(acknowledged);
        }
    }

    @Test
    void shouldHealAReplicaThatNobodyReadsWhenAByteOfItChanges() throws Exception {
        // given replicas of several segments
        topic = "small-segments";
        try (Admin admin = Admin.create(clients())) {
            NewTopic created = new NewTopic(topic, PARTITIONS, (short) BROKERS)
                    .configs(Map.of("min.insync.replicas", "2", "segment.bytes", "1024"));
            admin.createTopics(List.of(created)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        try (KafkaProducer<String, String> producer = producer()) {
            for (int i = 0; i < 10; i++) {
                send(producer, "a" + i, RECORDS);
            }
        }
        ProcessCluster.await("full in-sync replicas", this::areAllInSync);
        ProcessCluster.await("equal journals", this::areReplicasEqual);
        int follower = leaderOf(0) == BROKERS ? BROKERS - 1 : BROKERS;
        Path segment = data(follower).resolve(describe().topicId() + "-0").resolve("0".repeat(20) + ".log");

        // when
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek(100);
            int before = file.read();
            file.seek(100);
            file.write(before ^ 1);
        }

        // then
        ProcessCluster.await("equal journals", this::areReplicasEqual);
    }

    @Test
    void shouldGoOnUnderAnotherLeaderWhenTheDataDirectoryOfALeaderIsLost() throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            // given a leader that is not the controller
            Map<String, String> acknowledged = send(producer, "a", RECORDS);
            ProcessCluster.await("full in-sync replicas", this::areAllInSync);
            int controller = controller();
            int partition = leaderOf(0) == controller ? 1 : 0;
            int leader = leaderOf(partition);
            assertThat(leader).isNotEqualTo(controller);

            // when
            Files.delete(data(leader).resolve("journalq.identity"));

            // then
            ProcessCluster.await("another leader", () -> leaderOf(partition) != leader);
            acknowledged.putAll(send(producer, "b", RECORDS));
            assertThat(readAll()).isEqualTo(acknowledged);
        }
    }

    private int controller() throws Exception {
        try (Admin admin = Admin.create(clients())) {
            return admin.describeCluster()
                    .controller()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .id();
        }
    }

    @Test
    void shouldFollowALeaderThatHasLostItsFilesWhenTheFirstRecordsWereDeletedBefore() throws Exception {
        // given a topic whose log begins behind offset 0
        topic = "short";
        TopicPartition only = new TopicPartition(topic, 0);
        try (Admin admin = Admin.create(clients());
                KafkaProducer<String, String> producer = producer()) {
            NewTopic created =
                    new NewTopic(topic, Map.of(0, List.of(2, 3))).configs(Map.of("min.insync.replicas", "1"));
            admin.createTopics(List.of(created)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
            for (int i = 0; i < 100; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, "a" + i)).get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
            admin.deleteRecords(Map.of(only, RecordsToDelete.beforeOffset(50)))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>(topic, 0, null, "a100")).get(WAIT_SECONDS, TimeUnit.SECONDS);
        }

        // when the only replica in sync loses its files, and leads without records
        String partition = topicId() + "-0";
        brokers.remove(3).close();
        brokers.remove(2).close();
        delete(data(2).resolve(partition));
        start(2);
        ProcessCluster.await("a leader", () -> leaderOf(0) == 2);
        try (KafkaProducer<String, String> producer = producer()) {
            for (int i = 0; i < 10; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, "b" + i)).get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }
        start(3);

        // then the other one removes what that one does not have, and follows
        ProcessCluster.await(
                "full in-sync replicas",
                () -> describe().partitions().get(0).isr().size() == 2);
        ProcessCluster.await(
                "equal journals", () -> Arrays.equals(journal(data(2), partition), journal(data(3), partition)));
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldGoOnUnderOtherLeadersWhenALeaderStops() throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            Map<String, String> acknowledged = send(producer, "a", RECORDS);
            int leader = leaderOf(0);

            // when
            brokers.remove(leader).close();

            // then nobody waits for it, and nothing is lost
            assertThat(describe().partitions()).allSatisfy(partition -> {
                assertThat(partition.leader().id()).isNotEqualTo(leader);
                assertThat(partition.isr())
                        .extracting(Node::id)
                        .hasSize(BROKERS - 1)
                        .doesNotContain(leader);
            });
            acknowledged.putAll(send(producer, "b", RECORDS));
            assertThat(readAll()).isEqualTo(acknowledged);

            // and it comes back as a follower, and leads again when an operator says so
            start(leader);
            ProcessCluster.await("full in-sync replicas", this::areAllInSync);
            ProcessCluster.await("equal journals", this::areReplicasEqual);
            try (Admin admin = Admin.create(clients())) {
                admin.electLeaders(ElectionType.PREFERRED, null).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
            ProcessCluster.await("preferred leaders", () -> describe().partitions().stream()
                    .allMatch(partition -> partition.leader().id()
                            == partition.replicas().get(0).id()));
            acknowledged.putAll(send(producer, "c", RECORDS));
            assertThat(readAll()).isEqualTo(acknowledged);
        }
    }

    private int leaderOf(int partition) throws Exception {
        TopicPartitionInfo info = describe().partitions().get(partition);
        return info.leader().id();
    }
}
