package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The second data directory of a broker fails: others lead the partitions there, and the broker the rest. */
class FailedDirectoryTest {
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 12;
    private static final long WAIT_SECONDS = 60;
    private static final String TOPIC = "orders";

    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, Integer> quorumPorts = new TreeMap<>();
    private final Map<Integer, Broker> brokers = new TreeMap<>();

    @TempDir
    Path directory;

    @BeforeEach
    void startThree() throws Exception {
        for (int id = 1; id <= BROKERS; id++) {
            ports.put(id, LoopbackPorts.next());
            quorumPorts.put(id, LoopbackPorts.next());
            start(id);
        }
        try (Admin admin = admin()) {
            NewTopic created =
                    new NewTopic(TOPIC, PARTITIONS, (short) BROKERS).configs(Map.of("min.insync.replicas", "2"));
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
        settings.put("data.directories", data(id, 1) + "," + data(id, 2));
        settings.put("quorum.listener", "127.0.0.1:" + quorumPorts.get(id));
        settings.put("cluster.join", id == 1 ? "" : "127.0.0.1:" + ports.get(1));
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        brokers.put(id, Broker.start(config));
    }

    private Path data(int id, int number) {
        return directory.resolve("broker" + id + "-disk" + number);
    }

    private Map<String, Object> clients() {
        List<String> addresses = new ArrayList<>();
        ports.values().forEach(port -> addresses.add("127.0.0.1:" + port));
        return new TreeMap<>(Map.of("bootstrap.servers", String.join(",", addresses)));
    }

    private Admin admin() {
        return Admin.create(clients());
    }

    private TopicDescription describe() throws Exception {
        try (Admin admin = admin()) {
            return admin.describeTopics(List.of(TOPIC))
                    .allTopicNames()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(TOPIC);
        }
    }

    /** The numbers of the partitions whose files are in a directory. */
    private List<Integer> partitionsIn(Path disk) throws Exception {
        String prefix = describe().topicId() + "-";
        try (Stream<Path> files = Files.list(disk)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .map(name -> Integer.parseInt(name.substring(prefix.length())))
                    .toList();
        }
    }

    private void sendToAll(String value) throws Exception {
        Map<String, Object> settings = clients();
        settings.put("acks", "all");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                producer.send(new ProducerRecord<>(TOPIC, partition, null, value))
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static boolean isInSync(TopicPartitionInfo partition, int broker) {
        return partition.isr().stream().anyMatch(node -> node.id() == broker);
    }

    private static void delete(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldLetOthersLeadWhatIsOnAFailedDiskUntilItIsReplaced() throws Exception {
        // given
        int broker = 2;
        sendToAll("before");
        List<Integer> failed = partitionsIn(data(broker, 2));
        assertThat(failed).hasSizeBetween(1, PARTITIONS - 1);
        assertThat(describe().partitions()).anyMatch(one -> failed.contains(one.partition()) && leads(broker, one));

        // when
        Files.delete(data(broker, 2).resolve("journalq.identity"));

        // then others lead what was there, and this broker what is on its other disk
        ProcessCluster.await("other leaders", () -> describe().partitions().stream()
                .allMatch(one -> isInSync(one, broker) != failed.contains(one.partition())));
        assertThat(describe().partitions()).noneMatch(one -> failed.contains(one.partition()) && leads(broker, one));
        assertThat(describe().partitions()).anyMatch(one -> leads(broker, one));
        sendToAll("meanwhile");

        // and when it starts with an empty disk, and without the list that names the old one, it gets everything again
        brokers.remove(broker).close();
        delete(data(broker, 2));
        assertThatThrownBy(() -> start(broker)).hasMessageContaining("to give up its data, delete");
        Files.delete(data(broker, 1).resolve("journalq.identity"));
        start(broker);
        ProcessCluster.await("full in-sync replicas", () -> describe().partitions().stream()
                .allMatch(one -> one.isr().size() == BROKERS));
        sendToAll("after");
    }

    private static boolean leads(int broker, TopicPartitionInfo partition) {
        Node leader = partition.leader();
        return leader != null && leader.id() == broker;
    }
}
