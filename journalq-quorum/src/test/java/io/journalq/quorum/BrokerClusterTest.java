package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.BrokerRegistrationRequest;
import io.journalq.common.protocol.message.BrokerRegistrationResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.broker.Broker;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.process.LoopbackPorts;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Brokers that form a cluster with {@code cluster.join}. */
@Execution(ExecutionMode.CONCURRENT)
class BrokerClusterTest {
    private static final int WAIT_SECONDS = 60;
    private static final int PARTITIONS = 6;
    private static final int CREATE_TOPICS_VERSION = 7;
    private static final int FETCH_VERSION = 12;

    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, String> quorumListeners = new TreeMap<>();
    private final Map<Integer, Broker> brokers = new TreeMap<>();
    /** Instead of the usual ones. */
    private final Map<String, String> settings = new TreeMap<>();

    private final PeerChannels client = new NettyPeerChannels("test", null);

    @TempDir
    Path directory;

    @AfterEach
    void close() {
        client.close();
        brokers.values().forEach(Broker::close);
    }

    private Path dataOf(int nodeId) {
        return directory.resolve("broker" + nodeId);
    }

    private int port(int nodeId) {
        return ports.computeIfAbsent(nodeId, unused -> LoopbackPorts.next());
    }

    private String address(int nodeId) {
        return "127.0.0.1:" + port(nodeId);
    }

    private Broker start(int nodeId, Path data, String... seeds) throws Exception {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("node.id", Integer.toString(nodeId));
        all.put("listeners", "PLAINTEXT://" + address(nodeId));
        all.put("admin.listener", "");
        all.put("gateway.listener", "");
        all.put("write.ahead.max.bytes", "1048576");
        all.put("shutdown.timeout.ms", "3000");
        all.put("data.directories", data.toString());
        all.put(
                "quorum.listener",
                quorumListeners.computeIfAbsent(nodeId, unused -> "127.0.0.1:" + LoopbackPorts.next()));
        all.put("cluster.join", String.join(",", seeds));
        all.putAll(settings);
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : all.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        return Broker.start(config);
    }

    private void start(int nodeId, String... seeds) throws Exception {
        brokers.put(nodeId, start(nodeId, dataOf(nodeId), seeds));
    }

    private void stop(int nodeId) {
        brokers.remove(nodeId).close();
    }

    private static Map<String, Object> clients(String bootstrap) {
        return Map.of("bootstrap.servers", bootstrap);
    }

    /** Sends the request to this broker, and not to the controller as clients do. */
    private ErrorCode createTopicAt(int nodeId, String name) throws Exception {
        return createTopicAt(nodeId, name, 1);
    }

    private ErrorCode createTopicAt(int nodeId, String name, int replicationFactor) throws Exception {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(20_000)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(name)
                        .setNumPartitions(PARTITIONS)
                        .setReplicationFactor((short) replicationFactor)));
        CreateTopicsResponse response =
                (CreateTopicsResponse) client.send("127.0.0.1", port(nodeId), request, CREATE_TOPICS_VERSION, 30_000)
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
        return ErrorCode.of(response.topics().get(0).errorCode());
    }

    private static TopicDescription describe(String bootstrap, String topic) throws Exception {
        try (Admin admin = Admin.create(clients(bootstrap))) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(topic);
        }
    }

    private static void send(String bootstrap, String topic, String prefix) throws Exception {
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(clients(bootstrap), new StringSerializer(), new StringSerializer())) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                producer.send(new ProducerRecord<>(topic, partition, null, prefix + partition))
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    /** Reads as a group, whose coordinator may be any of the brokers. */
    private static Set<String> receive(String bootstrap, String topic, String group, int count) {
        Set<String> values = new TreeSet<>();
        Map<String, Object> settings =
                Map.of("bootstrap.servers", bootstrap, "group.id", group, "auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(received -> values.add(received.value()));
            }
            consumer.commitSync(Duration.ofSeconds(WAIT_SECONDS));
        }
        return values;
    }

    private static Set<String> values(String... prefixes) {
        Set<String> values = new TreeSet<>();
        for (String prefix : prefixes) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                values.add(prefix + partition);
            }
        }
        return values;
    }

    private static List<Integer> ids(Iterable<Node> nodes) {
        List<Integer> ids = new ArrayList<>();
        nodes.forEach(node -> ids.add(node.id()));
        ids.sort(null);
        return ids;
    }

    private void startThree() throws Exception {
        start(1);
        start(2, address(1));
        start(3, address(1), address(2));
    }

    @Test
    void shouldSpreadTopicsAndServeEachRequestWhenThreeBrokersFormACluster() throws Exception {
        // given a broker with data
        start(1);
        assertThat(createTopicAt(1, "before")).isEqualTo(ErrorCode.NONE);
        send(address(1), "before", "a");

        // when two others join
        start(2, address(1));
        start(3, address(1), address(2));

        // then clients know all of them
        for (int nodeId : brokers.keySet()) {
            try (Admin admin = Admin.create(clients(address(nodeId)))) {
                assertThat(ids(admin.describeCluster().nodes().get(WAIT_SECONDS, TimeUnit.SECONDS)))
                        .containsExactly(1, 2, 3);
                assertThat(admin.describeMetadataQuorum()
                                .quorumInfo()
                                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                                .voters())
                        .hasSize(3);
            }
        }
        assertThat(receive(address(3), "before", "readers", PARTITIONS)).isEqualTo(values("a"));

        // and any broker creates topics, on all of them
        for (int nodeId : brokers.keySet()) {
            assertThat(createTopicAt(nodeId, "topic" + nodeId)).isEqualTo(ErrorCode.NONE);
        }
        for (int nodeId : brokers.keySet()) {
            ProcessCluster.await("leaders of topic2 at broker " + nodeId, () -> {
                TopicDescription topic = describe(address(nodeId), "topic2");
                assertThat(topic.partitions()).hasSize(PARTITIONS);
                return topic.partitions().stream()
                                .map(partition -> partition.leader().id())
                                .distinct()
                                .count()
                        == 3;
            });
        }
        send(address(3), "topic1", "b");
        assertThat(receive(address(2), "topic1", "others", PARTITIONS)).isEqualTo(values("b"));

        // and changes settings
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "topic1");
        AlterConfigOp longer = new AlterConfigOp(new ConfigEntry("retention.ms", "1234567"), AlterConfigOp.OpType.SET);
        for (int nodeId : brokers.keySet()) {
            try (Admin admin = Admin.create(clients(address(nodeId)))) {
                admin.incrementalAlterConfigs(Map.of(topic, List.of(longer)))
                        .all()
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldKeepEverythingWhenBrokersStartAgain() throws Exception {
        startThree();
        assertThat(createTopicAt(2, "orders")).isEqualTo(ErrorCode.NONE);
        send(address(1), "orders", "a");

        // when the others go on without one
        stop(1);
        assertThat(createWhenThereIsAController(2, "payments")).isEqualTo(ErrorCode.NONE);

        // and all are started again, without brokers to join
        stop(2);
        stop(3);
        Thread second = startInBackground(2, address(1));
        Thread third = startInBackground(3);
        start(1);
        second.join(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
        third.join(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));

        // then
        assertThat(brokers.keySet()).containsExactly(1, 2, 3);
        send(address(3), "orders", "b");
        assertThat(receive(address(2), "orders", "readers", 2 * PARTITIONS)).isEqualTo(values("a", "b"));
        assertThat(describe(address(1), "payments").partitions()).hasSize(PARTITIONS);
    }

    private Thread startInBackground(int nodeId, String... seeds) {
        Thread thread = new Thread(() -> {
            try {
                Broker started = start(nodeId, dataOf(nodeId), seeds);
                synchronized (brokers) {
                    brokers.put(nodeId, started);
                }
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        thread.start();
        return thread;
    }

    private ErrorCode createWhenThereIsAController(int nodeId, String name) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        ErrorCode error = createTopicAt(nodeId, name);
        while (error == ErrorCode.NOT_CONTROLLER && System.nanoTime() < deadline) {
            Thread.sleep(100);
            error = createTopicAt(nodeId, name);
        }
        return error;
    }

    @Test
    void shouldCreateAndDeleteReplicatedTopicsWhenABrokerIsDown() throws Exception {
        settings.put("default.replication.factor", "3");
        startThree();
        assertThat(createTopicAt(1, "deleted", TopicSpec.DEFAULT)).isEqualTo(ErrorCode.NONE);
        send(address(1), "deleted", "a");
        Set<Path> before = partitionDirectories(3);
        assertThat(before).hasSize(PARTITIONS);

        // when
        stop(3);
        try (Admin admin = Admin.create(clients(address(1) + "," + address(2)))) {
            admin.deleteTopics(List.of("deleted")).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        assertThat(createTopicAt(2, "created", TopicSpec.DEFAULT)).isEqualTo(ErrorCode.NONE);
        send(address(1), "created", "b");
        start(3, address(1));

        // then it has the new one only
        ProcessCluster.await("in-sync replicas", () -> describe(address(1), "created").partitions().stream()
                .allMatch(partition -> partition.isr().size() == 3));
        ProcessCluster.await("the files of the deleted topic to be deleted", () -> before.stream()
                .noneMatch(Files::exists));
        assertThat(partitionDirectories(3)).hasSize(PARTITIONS);
    }

    private Set<Path> partitionDirectories(int nodeId) throws IOException {
        try (Stream<Path> files = Files.list(dataOf(nodeId))) {
            return files.filter(file -> file.getFileName().toString().matches("[A-Za-z0-9_-]{22}-\\d+"))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void shouldRefuseToJoinWhenNoSeedResponds() {
        assertThatThrownBy(() -> start(2, dataOf(2), "127.0.0.1:" + LoopbackPorts.next()))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("no broker in cluster.join responds (127.0.0.1:")
                .hasMessageEndingWith("; start one of them, or correct cluster.join");
        assertThat(dataOf(2).resolve("quorum")).doesNotExist();
    }

    @Test
    void shouldRefuseToJoinWhenAnAddressForClientsIsInUse() throws Exception {
        start(1);
        for (String setting : List.of("listeners", "gateway.listener")) {
            try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                settings.put(setting, "PLAINTEXT://127.0.0.1:" + other.getLocalPort());
                assertThatThrownBy(() -> start(2, dataOf(2), address(1)))
                        .isInstanceOf(StartException.class)
                        .hasMessageMatching("cannot listen on 127.0.0.1:\\d+: Address already in use; stop the program"
                                + " that uses this address, or set another in '" + setting + "'.*");
            } finally {
                settings.clear();
            }
        }

        // then it is no voter, without which the first broker could decide nothing
        assertThat(createTopicAt(1, "orders")).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseToJoinWhenTheSeedHasNoQuorum() throws Exception {
        settings.put("quorum.listener", "");
        start(1);
        settings.clear();

        assertThatThrownBy(() -> start(2, dataOf(2), address(1)))
                .isInstanceOf(StartException.class)
                .hasMessage(
                        "broker 1 in cluster.join has no metadata quorum; set quorum.listener on it, and restart it");

        // and when that is done, the broker joins
        stop(1);
        start(1);
        start(2, address(1));
        assertThat(createTopicAt(2, "orders")).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseToJoinWhenTheNodeIdOrTheDataDirectoryIsOfAnotherBroker(@TempDir Path copy) throws Exception {
        start(1);
        start(2, address(1));

        // a broker without data, at other addresses
        assertThatThrownBy(() -> startAtOtherAddresses(2, copy.resolve("empty")))
                .isInstanceOf(StartException.class)
                .hasMessage("node id 2 belongs to the broker at " + address(2) + ", which is running; choose another"
                        + " node.id, and never start a copy of a data directory");

        // a copy of the data directory
        Path copied = copy.resolve("copied");
        copy(dataOf(2), copied);
        assertThatThrownBy(() -> startAtOtherAddresses(2, copied))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("node id 2 belongs to the broker at " + address(2));

        // a broker without data, while the other one is stopped
        start(3, address(1));
        stop(2);
        assertThatThrownBy(() -> startAtOtherAddresses(2, copy.resolve("empty")))
                .isInstanceOf(StartException.class)
                .hasMessage("the cluster refuses this broker: node id 2 belongs to another voter of the cluster; choose"
                        + " another node.id, or replace that broker when it is down, with quorum.listener="
                        + quorumListeners.get(2));

        // the broker itself still starts
        start(2, address(1));
        assertThat(createTopicAt(2, "orders")).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseToJoinWhenTheDataIsOfAnotherCluster() throws Exception {
        start(1);
        start(4, dataOf(4)).close();
        assertThatThrownBy(() -> start(4, dataOf(4), address(1)))
                .isInstanceOf(StartException.class)
                .hasMessageMatching(
                        "the data directory \\S+ belongs to cluster \\S+, and the brokers in cluster.join to"
                                + " cluster \\S+; correct cluster.join, or set an empty directory in data.directories");

        quorumListeners.put(5, "");
        start(5, dataOf(5)).close();
        quorumListeners.remove(5);
        assertThatThrownBy(() -> start(5, dataOf(5), address(1)))
                .isInstanceOf(StartException.class)
                .hasMessageMatching("the data directory \\S+ holds the metadata of cluster \\S+, and a broker with"
                        + " cluster.join must have no data; remove cluster.join, or set an empty directory in"
                        + " data.directories");
    }

    @Test
    void shouldKeepGroupsWhenTheirTopicGetsReplicasAndTheirFirstBrokerStops() throws Exception {
        // given the groups of a single broker
        start(1);
        assertThat(createTopicAt(1, "orders")).isEqualTo(ErrorCode.NONE);
        send(address(1), "orders", "a");
        for (int group = 0; group < 5; group++) {
            assertThat(receive(address(1), "orders", "group" + group, PARTITIONS))
                    .isEqualTo(values("a"));
        }
        start(2, address(1));
        start(3, address(1), address(2));

        // when their topic gets more replicas, and that broker stops
        TopicDescription before = describe(address(2), "__consumer_offsets");
        try (Admin admin = Admin.create(clients(address(2)))) {
            Map<org.apache.kafka.common.TopicPartition, Optional<NewPartitionReassignment>> targets = new HashMap<>();
            before.partitions()
                    .forEach(partition -> targets.put(
                            new org.apache.kafka.common.TopicPartition("__consumer_offsets", partition.partition()),
                            Optional.of(new NewPartitionReassignment(List.of(1, 2, 3)))));
            admin.alterPartitionReassignments(targets).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        ProcessCluster.await("in-sync replicas", () -> describe(address(2), "__consumer_offsets").partitions().stream()
                .allMatch(partition -> partition.isr().size() == 3));
        stop(1);

        // then the others have the offsets
        try (Admin admin = Admin.create(clients(address(2)))) {
            for (int group = 0; group < 5; group++) {
                String id = "group" + group;
                ProcessCluster.await(
                        "offsets of " + id,
                        () -> admin
                                        .listConsumerGroupOffsets(id)
                                        .partitionsToOffsetAndMetadata()
                                        .get(WAIT_SECONDS, TimeUnit.SECONDS)
                                        .values()
                                        .stream()
                                        .mapToLong(OffsetAndMetadata::offset)
                                        .sum()
                                == PARTITIONS);
            }
        }
    }

    @Test
    void shouldCommitAndAbortTransactionsWhoseParticipantsAreOnSeveralBrokers() throws Exception {
        // given a topic with a partition on each broker
        startThree();
        assertThat(createTopicAt(1, "orders")).isEqualTo(ErrorCode.NONE);
        Set<String> committed = new TreeSet<>();

        // when transactions of both protocols end, of producers whose coordinators are on all brokers
        for (short version : new short[] {2, 0}) {
            useTransactionVersion(version);
            for (int number = 0; number < 6; number++) {
                String id = "producer-" + version + "-" + number;
                committed.addAll(commitAndAbort(id, "group-" + number));
            }
        }

        // then consumers of committed records see those, and nothing is open or hangs
        assertThat(receiveCommitted("orders", committed.size())).isEqualTo(committed);
    }

    private void useTransactionVersion(short version) throws Exception {
        try (Admin admin = Admin.create(clients(address(1)))) {
            admin.updateFeatures(
                            Map.of(
                                    "transaction.version",
                                    new FeatureUpdate(
                                            version,
                                            version == 0
                                                    ? FeatureUpdate.UpgradeType.SAFE_DOWNGRADE
                                                    : FeatureUpdate.UpgradeType.UPGRADE)),
                            new UpdateFeaturesOptions())
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Returns what was committed. */
    private Set<String> commitAndAbort(String id, String group) throws Exception {
        Set<String> committed = new TreeSet<>();
        Map<String, Object> settings =
                Map.of("bootstrap.servers", address(1), "transactional.id", id, "max.block.ms", 30_000);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (int round = 0; round < 3; round++) {
                producer.beginTransaction();
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    String value = id + "-" + round + "-" + partition;
                    var unused = producer.send(new ProducerRecord<>("orders", partition, null, value));
                    if (round != 1) {
                        committed.add(value);
                    }
                }
                org.apache.kafka.common.TopicPartition read = new org.apache.kafka.common.TopicPartition("orders", 0);
                producer.sendOffsetsToTransaction(Map.of(read, new OffsetAndMetadata(10 + round)), metadataOf(group));
                if (round == 1) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
                try (Admin admin = Admin.create(clients(address(2)))) {
                    long offset = admin.listConsumerGroupOffsets(
                                    group, new ListConsumerGroupOffsetsOptions().requireStable(true))
                            .partitionsToOffsetAndMetadata()
                            .get(WAIT_SECONDS, TimeUnit.SECONDS)
                            .get(read)
                            .offset();
                    assertThat(offset).as("%s, round %s", id, round).isEqualTo(round == 1 ? 10 : 10 + round);
                }
            }
        }
        return committed;
    }

    private ConsumerGroupMetadata metadataOf(String group) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address(1), "group.id", group),
                new StringDeserializer(),
                new StringDeserializer())) {
            return consumer.groupMetadata();
        }
    }

    private Set<String> receiveCommitted(String topic, int count) {
        Set<String> values = new TreeSet<>();
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", address(3), "isolation.level", "read_committed", "auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<org.apache.kafka.common.TopicPartition> partitions = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.add(new org.apache.kafka.common.TopicPartition(topic, partition));
            }
            consumer.assign(partitions);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(received -> values.add(received.value()));
            }
            consumer.poll(Duration.ofMillis(200)).forEach(received -> values.add(received.value()));
        }
        return values;
    }

    @Test
    void shouldRefuseRequestsOfBrokersWhenTheyArriveAtAListenerForClients() throws Exception {
        int clients = LoopbackPorts.next();
        settings.put("listeners", "PLAINTEXT://" + address(1) + ",CLIENTS://127.0.0.1:" + clients);
        settings.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT");
        start(1);

        EnvelopeResponse enveloped =
                (EnvelopeResponse) client.send("127.0.0.1", clients, new EnvelopeRequest(), 0, 20_000)
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
        BrokerRegistrationResponse registered = (BrokerRegistrationResponse)
                client.send("127.0.0.1", clients, new BrokerRegistrationRequest().setBrokerId(2), 4, 20_000)
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);

        assertThat(List.of(enveloped.errorCode(), registered.errorCode()))
                .containsOnly(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code());

        // and at the listener for brokers, nothing but requests for the controller is taken from an envelope
        EnvelopeResponse malformed = (EnvelopeResponse) client.send(
                        "127.0.0.1",
                        port(1),
                        new EnvelopeRequest().setRequestData(Unpooled.buffer(4).writeInt(3)),
                        0,
                        20_000)
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertThat(malformed.errorCode()).isNotEqualTo(ErrorCode.NONE.code());
        assertThat(createTopicAt(1, "orders")).isEqualTo(ErrorCode.NONE);
    }

    private void startAtOtherAddresses(int nodeId, Path data) throws Exception {
        int port = ports.remove(nodeId);
        String quorumListener = quorumListeners.remove(nodeId);
        try {
            start(nodeId, data, address(1)).close();
        } finally {
            ports.put(nodeId, port);
            quorumListeners.put(nodeId, quorumListener);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private FetchResponse fetchFromNearest(FetchRequest request) throws Exception {
        request.setRackId("north").setMaxWaitMs(500).setMinBytes(1).setMaxBytes(1_000);
        return (FetchResponse) client.send("127.0.0.1", port(1), request, FETCH_VERSION, 30_000)
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private static int preferredReplica(FetchResponse response) {
        return response.responses().isEmpty()
                ? -1
                : response.responses().get(0).partitions().get(0).preferredReadReplica();
    }

    /** Begins a session at the end of the empty topic. */
    private FetchResponse beginSession() throws Exception {
        return fetchFromNearest(new FetchRequest()
                .setSessionEpoch(0)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("orders")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(1_000))))));
    }

    @Test
    void shouldNameTheNearestReplicaAgainWhenTheConsumerComesBackWithoutRecords() throws Exception {
        // given the session of a consumer that was told to read from the follower in its rack
        start(1);
        settings.put("broker.rack", "north");
        start(2, address(1));
        try (Admin admin = Admin.create(clients(address(1)))) {
            admin.createTopics(List.of(new NewTopic("orders", Map.of(0, List.of(1, 2)))))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        FetchResponse redirected = beginSession();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (preferredReplica(redirected) != 2) {
            assertThat(System.nanoTime()).as("redirection").isLessThan(deadline);
            redirected = beginSession();
        }

        // when it could not read there, and its position is the same, so that it does not name the partition
        FetchResponse again = fetchFromNearest(new FetchRequest()
                .setSessionId(redirected.sessionId())
                .setSessionEpoch(1)
                .setTopics(List.of()));

        // then it is told again, and does not wait for records that it would never learn of
        assertThat(ErrorCode.of(again.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(preferredReplica(again)).isEqualTo(2);
    }
}
