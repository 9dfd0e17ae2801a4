package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.process.LoopbackPorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Partitions move between three brokers, while clients use them. */
@Tag("long")
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class BrokerReassignmentTest {
    private static final int WAIT_SECONDS = 60;
    private static final int BROKERS = 3;
    private static final String TOPIC = "orders";
    /** Bytes per second. */
    private static final int THROTTLED_RATE = 2_000_000;

    private static final int THROTTLED_RECORDS = 120;
    private static final int CANCELLATIONS = 10;
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, String> quorumListeners = new TreeMap<>();
    private final Map<Integer, Broker> brokers = new TreeMap<>();

    @TempDir
    Path directory;

    private Admin admin;

    @BeforeEach
    void startThree() throws Exception {
        for (int id = 1; id <= BROKERS; id++) {
            start(id);
        }
        admin = Admin.create(clients());
    }

    @AfterEach
    void close() {
        admin.close(Duration.ZERO);
        brokers.values().forEach(Broker::close);
    }

    private void start(int id) throws Exception {
        boolean first = ports.isEmpty();
        Map<String, String> all = new LinkedHashMap<>();
        all.put("node.id", Integer.toString(id));
        all.put("listeners", "PLAINTEXT://127.0.0.1:" + ports.computeIfAbsent(id, unused -> LoopbackPorts.next()));
        all.put("admin.listener", "");
        all.put("gateway.listener", "");
        all.put("write.ahead.max.bytes", "1048576");
        all.put("data.directories", data(id).toString());
        all.put("quorum.listener", quorumListeners.computeIfAbsent(id, unused -> "127.0.0.1:" + LoopbackPorts.next()));
        all.put("cluster.join", first ? "" : "127.0.0.1:" + ports.get(1));
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : all.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        brokers.put(id, Broker.start(config));
    }

    private void stop(int id) {
        brokers.remove(id).close();
    }

    private Path data(int id) {
        return directory.resolve("broker" + id);
    }

    private Map<String, Object> clients() {
        List<String> addresses =
                ports.values().stream().map(port -> "127.0.0.1:" + port).toList();
        return Map.of("bootstrap.servers", String.join(",", addresses), "auto.offset.reset", "earliest");
    }

    private void create(Integer... replicas) throws Exception {
        NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(replicas)))
                .configs(Map.of("delivery.mode", "eventual", "min.insync.replicas", "2"));
        admin.createTopics(List.of(topic)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private void reassign(Integer... target) throws Exception {
        Optional<NewPartitionReassignment> to =
                target.length == 0 ? Optional.empty() : Optional.of(new NewPartitionReassignment(List.of(target)));
        admin.alterPartitionReassignments(Map.of(PARTITION, to)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private boolean isMoving() throws Exception {
        return !admin.listPartitionReassignments()
                .reassignments()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .isEmpty();
    }

    private TopicPartitionInfo describe() throws Exception {
        return admin.describeTopics(List.of(TOPIC))
                .allTopicNames()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .get(TOPIC)
                .partitions()
                .get(0);
    }

    private static List<Integer> ids(List<Node> nodes) {
        return nodes.stream().map(Node::id).sorted().toList();
    }

    private void moveTo(Integer... target) throws Exception {
        reassign(target);
        awaitMoved(target);
    }

    /** Any broker responds, also one that does not know yet that the partition moves. */
    private void awaitMoved(Integer... target) throws Exception {
        ProcessCluster.await("replicas " + List.of(target) + ", all in sync", () -> {
            TopicPartitionInfo partition = describe();
            return partition.replicas().stream().map(Node::id).toList().equals(List.of(target))
                    && ids(partition.isr()).equals(Stream.of(target).sorted().toList())
                    && !isMoving();
        });
    }

    private void awaitLeader(int broker) throws Exception {
        ProcessCluster.await("leader " + broker, () -> describe().leader().id() == broker);
    }

    private void awaitNoFiles(int broker) throws Exception {
        ProcessCluster.await("deletion on broker " + broker, () -> {
            try (Stream<Path> files = Files.list(data(broker))) {
                return files.noneMatch(
                        file -> Files.exists(file.resolve("00000000000000000000.log")) && !file.endsWith("metadata"));
            }
        });
    }

    /** Sends records one after the other, and remembers what was acknowledged. */
    private final class Sender extends Thread {
        private final Map<Long, String> acknowledged = new ConcurrentHashMap<>();
        private volatile boolean ended;
        private volatile Exception failure;

        @Override
        public void run() {
            try (KafkaProducer<String, String> producer =
                    new KafkaProducer<>(clients(), new StringSerializer(), new StringSerializer())) {
                for (int number = 0; !ended; number++) {
                    String value = "record-" + number;
                    var unused = producer.send(new ProducerRecord<>(TOPIC, 0, null, value), (metadata, error) -> {
                        if (error == null) {
                            acknowledged.put(metadata.offset(), value);
                        } else {
                            failure = error;
                        }
                    });
                    Thread.sleep(1);
                }
            } catch (Exception error) {
                failure = error;
            }
        }

        void end() throws Exception {
            ended = true;
            join();
            assertThat(failure).isNull();
        }
    }

    private List<String> readAll(int count) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(clients(), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(PARTITION));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(record.value()));
            }
        }
        return values;
    }

    @Test
    void shouldLoseAndDoubleNothingWhenAPartitionGetsReplicasAndMovesWhileItIsUsed() throws Exception {
        // given a topic with one replica, and a client
        create(1);
        Sender sender = new Sender();
        sender.start();
        ProcessCluster.await("records", () -> sender.acknowledged.size() > 100);

        // when it gets three replicas, and then moves away from its leader
        moveTo(1, 2, 3);
        awaitLeader(1);
        moveTo(3, 2);
        awaitLeader(3);
        moveTo(2);
        int before = sender.acknowledged.size();
        ProcessCluster.await("more records", () -> sender.acknowledged.size() > before + 100);
        sender.end();

        // then
        List<String> values = readAll(sender.acknowledged.size());
        assertThat(values).doesNotHaveDuplicates().hasSize(sender.acknowledged.size());
        sender.acknowledged.forEach(
                (offset, value) -> assertThat(values.get(offset.intValue())).isEqualTo(value));
        awaitNoFiles(1);
        awaitNoFiles(3);
    }

    @Test
    void shouldWaitForABrokerThatIsDownUntilTheReassignmentIsCancelled() throws Exception {
        create(1, 3);
        stop(3);
        ProcessCluster.await("one in sync", () -> ids(describe().isr()).equals(List.of(1)));

        // when a partition leaves a broker that is down
        moveTo(1, 2);
        // and another one is to be added
        reassign(2, 3);
        assertThat(admin.listPartitionReassignments()
                        .reassignments()
                        .get(WAIT_SECONDS, TimeUnit.SECONDS)
                        .get(PARTITION)
                        .addingReplicas())
                .containsExactly(3);
        reassign();

        // then the broker deletes its files when it is back
        ProcessCluster.await(
                "the replicas before",
                () -> !isMoving() && ids(describe().replicas()).equals(List.of(1, 2)));
        start(3);
        awaitNoFiles(3);
    }

    @Test
    void shouldReturnToTheReplicasBeforeWhenAReplicaThatHasJoinedMustLeave() throws Exception {
        // given a partition that cannot move, because one of the new replicas is down
        stop(3);
        int controller = admin.describeCluster()
                .controller()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .id();
        int other = 3 - controller;
        create(other);
        try (NettyPeerChannels channels = new NettyPeerChannels("test", null)) {
            for (int round = 0; round < CANCELLATIONS; round++) {
                reassign(controller, 3);
                ProcessCluster.await("two in sync", () -> ids(describe().isr()).equals(List.of(1, 2)));

                // when it is cancelled, at the controller and through the other broker
                int broker = round % 2 == 0 ? controller : other;
                AlterPartitionReassignmentsResponse response = (AlterPartitionReassignmentsResponse)
                        channels.send("127.0.0.1", ports.get(broker), cancellation(), 0, WAIT_SECONDS * 1_000)
                                .get(WAIT_SECONDS, TimeUnit.SECONDS);

                // then it is, when the response arrives
                assertThat(response.errorCode()).as(response.errorMessage()).isZero();
                assertThat(response.responses().get(0).partitions().get(0).errorCode())
                        .isZero();
                assertThat(isMoving()).isFalse();
                ProcessCluster.await(
                        "the replica before", () -> ids(describe().replicas()).equals(List.of(other)));
            }
        }
        awaitNoFiles(controller);
    }

    private static AlterPartitionReassignmentsRequest cancellation() {
        return new AlterPartitionReassignmentsRequest()
                .setTimeoutMs(WAIT_SECONDS * 1_000)
                .setTopics(List.of(new AlterPartitionReassignmentsRequest.ReassignableTopic()
                        .setName(TOPIC)
                        .setPartitions(List.of(new AlterPartitionReassignmentsRequest.ReassignablePartition()
                                .setPartitionIndex(0)
                                .setReplicas(null)))));
    }

    private void alter(ConfigResource.Type type, String resource, Map<String, String> settings) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        settings.forEach((name, value) -> changes.add(new AlterConfigOp(
                new ConfigEntry(name, value), value == null ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET)));
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(type, resource), changes))
                .all()
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldCopyAtTheRateOfTheThrottleAsKafkasToolSetsIt() throws Exception {
        // given
        create(1, 2);
        byte[] value = new byte[100_000];
        new Random(7).nextBytes(value);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(clients(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < THROTTLED_RECORDS; i++) {
                var unused = producer.send(new ProducerRecord<>(TOPIC, 0, null, value));
            }
        }
        Map<String, String> rates = new TreeMap<>();
        rates.put("leader.replication.throttled.rate", Integer.toString(THROTTLED_RATE));
        rates.put("follower.replication.throttled.rate", Integer.toString(THROTTLED_RATE));
        for (int id = 1; id <= BROKERS; id++) {
            alter(ConfigResource.Type.BROKER, Integer.toString(id), rates);
        }
        Map<String, String> replicas = new TreeMap<>();
        replicas.put("leader.replication.throttled.replicas", "0:1,0:2");
        replicas.put("follower.replication.throttled.replicas", "0:3");
        alter(ConfigResource.Type.TOPIC, TOPIC, replicas);

        // when
        long startNanos = System.nanoTime();
        reassign(1, 3);
        awaitMoved(1, 3);
        double seconds = (System.nanoTime() - startNanos) / 1e9;

        // then it took as long as the throttle demands
        double bytesPerSecond = THROTTLED_RECORDS * (double) value.length / seconds;
        assertThat(bytesPerSecond).isLessThan(1.2 * THROTTLED_RATE);

        // and the throttle can be removed
        rates.replaceAll((name, rate) -> null);
        for (int id = 1; id <= BROKERS; id++) {
            alter(ConfigResource.Type.BROKER, Integer.toString(id), rates);
        }
        moveTo(2, 3);
    }

    @Test
    void shouldListAMoveAtEveryBrokerAsSoonAsItHasBegun() throws Exception {
        // given moves that wait for a broker
        create(1, 2);
        stop(3);
        try (NettyPeerChannels channels = new NettyPeerChannels("test", null)) {
            for (int round = 0; round < CANCELLATIONS; round++) {
                for (int id : brokers.keySet()) {
                    // when
                    alter(channels, id, List.of(1, 2, 3));

                    // then
                    ListPartitionReassignmentsResponse listed = (ListPartitionReassignmentsResponse)
                            ask(channels, id, new ListPartitionReassignmentsRequest().setTopics(null), 0);
                    assertThat(listed.topics()).as("at broker " + id).hasSize(1);
                    alter(channels, id, null);
                }
            }
        }
    }

    @Test
    void shouldNotListMovesWhenThereIsNoController() throws Exception {
        // given
        create(1, 2);
        int controller = admin.describeCluster()
                .controller()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .id();
        List<Integer> others =
                brokers.keySet().stream().filter(id -> id != controller).toList();

        // when
        stop(controller);
        stop(others.get(0));

        // then the last broker does not say that no partition moves
        try (NettyPeerChannels channels = new NettyPeerChannels("test", null)) {
            // as soon as it knows that it does not lead the quorum any more
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            ErrorCode error = ErrorCode.NONE;
            while (error != ErrorCode.NOT_CONTROLLER && System.nanoTime() < deadlineNanos) {
                ListPartitionReassignmentsResponse listed = (ListPartitionReassignmentsResponse)
                        ask(channels, others.get(1), new ListPartitionReassignmentsRequest().setTopics(null), 0);
                error = ErrorCode.of(listed.errorCode());
            }
            assertThat(error).isEqualTo(ErrorCode.NOT_CONTROLLER);
        }
    }

    private void alter(NettyPeerChannels channels, int id, List<Integer> target) throws Exception {
        AlterPartitionReassignmentsResponse altered = (AlterPartitionReassignmentsResponse) ask(
                channels,
                id,
                new AlterPartitionReassignmentsRequest()
                        .setTimeoutMs(WAIT_SECONDS * 1_000)
                        .setTopics(List.of(new AlterPartitionReassignmentsRequest.ReassignableTopic()
                                .setName(TOPIC)
                                .setPartitions(List.of(new AlterPartitionReassignmentsRequest.ReassignablePartition()
                                        .setPartitionIndex(0)
                                        .setReplicas(target))))),
                0);
        assertThat(altered.errorCode()).isZero();
        assertThat(altered.responses().get(0).partitions().get(0).errorCode()).isZero();
    }

    private ApiMessage ask(NettyPeerChannels channels, int id, ApiMessage request, int version) throws Exception {
        return channels.send("127.0.0.1", ports.get(id), request, version, WAIT_SECONDS * 1_000)
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
    }
}
