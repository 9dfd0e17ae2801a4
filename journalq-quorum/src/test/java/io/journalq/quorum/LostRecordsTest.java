package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A replica that was eligible as a leader comes back without records that it had acknowledged. It must not lead. Three
 * brokers in processes of their own.
 */
@Tag("long")
@Timeout(1_800)
class LostRecordsTest {
    private static final int BROKERS = 3;
    private static final int LAST = 1;
    private static final int LOSER = 2;
    private static final int RECORDS = 200;
    private static final int SECONDS = 180;
    private static final String TOPIC = "orders";

    private final List<String> sent = new ArrayList<>();
    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    /** What happens to the files while the broker is down. */
    enum Loss {
        TRUNCATED {
            @Override
            void happen(Path files) throws IOException {
                for (Path file : list(files)) {
                    if (file.toString().endsWith(".log")) {
                        try (FileChannel log = FileChannel.open(file, StandardOpenOption.WRITE)) {
                            log.truncate(log.size() / 2);
                        }
                    }
                }
            }
        },
        DELETED {
            @Override
            void happen(Path files) throws IOException {
                for (Path file : list(files)) {
                    Files.delete(file);
                }
            }
        };

        abstract void happen(Path files) throws IOException;

        /** A directory and everything in it, the innermost files first. */
        static List<Path> list(Path files) throws IOException {
            try (Stream<Path> found = Files.walk(files)) {
                return found.sorted(Comparator.reverseOrder()).toList();
            }
        }
    }

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(LAST, LOSER, 3)))
                    .configs(Map.of("delivery.mode", "consistent", "min.insync.replicas", "2"));
            admin.createTopics(List.of(topic)).all().get(SECONDS, TimeUnit.SECONDS);
        }
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

    private String topicId() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTopics(List.of(TOPIC))
                    .allTopicNames()
                    .get(SECONDS, TimeUnit.SECONDS)
                    .get(TOPIC)
                    .topicId()
                    .toString();
        }
    }

    private void send() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "acks", "all"),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                String value = "record " + sent.size();
                producer.send(new ProducerRecord<>(TOPIC, 0, null, value)).get(SECONDS, TimeUnit.SECONDS);
                sent.add(value);
            }
        }
    }

    private List<String> readAll() throws Exception {
        List<String> read = new ArrayList<>();
        Map<String, Object> settings =
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
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
    @EnumSource
    void shouldNotLeadWithoutAcknowledgedRecords(Loss loss) throws Exception {
        // given records on all brokers, which then stop one after the other
        ProcessCluster.await("all replicas in sync", () -> partition().isr().size() == BROKERS);
        send();
        Path files = cluster.data(LOSER).resolve(topicId() + "-0");
        assertThat(cluster.stop(3, SECONDS)).isTrue();
        ProcessCluster.await("two in sync", () -> partition().isr().size() == 2);
        assertThat(cluster.stop(LOSER, SECONDS)).isTrue();
        cluster.kill(LAST);

        // when an eligible one has lost records
        loss.happen(files);
        cluster.start(LOSER);
        cluster.start(3);

        // then it does not lead when the last leader is fenced, and says why
        ProcessCluster.await("the loss is known", () -> Files.readString(cluster.log(LOSER))
                .contains(
                        loss == Loss.DELETED
                                ? "the files of a replica are missing"
                                : "below the high watermark are missing"));
        ProcessCluster.await("no leader", () -> partition().leader() == null);
        ProcessCluster.await("the others are in the cluster", () -> {
            try (Admin admin = cluster.admin()) {
                return admin.describeCluster()
                                .nodes()
                                .get(SECONDS, TimeUnit.SECONDS)
                                .size()
                        == 2;
            }
        });
        assertThat(partition().leader()).isNull();

        // and everything is there when the last leader is back, on all replicas
        cluster.start(LAST);
        ProcessCluster.await("all replicas in sync", () -> partition().isr().size() == BROKERS);
        assertThat(readAll()).isEqualTo(sent);
        cluster.kill(LAST);
        ProcessCluster.await(
                "another leader",
                () -> partition().leader() != null && partition().leader().id() != LAST);
        assertThat(readAll()).isEqualTo(sent);
    }
}
