package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.DescribeQuorumRequest;
import io.journalq.common.protocol.message.DescribeQuorumResponse;
import io.journalq.server.broker.Broker;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.process.LoopbackPorts;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A broker whose metadata log is that of a quorum. */
@Execution(ExecutionMode.CONCURRENT)
class BrokerQuorumTest {
    private static final int WAIT_SECONDS = 60;
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    private final String quorumListener = "127.0.0.1:" + LoopbackPorts.next();

    @TempDir
    Path directory;

    private Broker start(String listener) throws Exception {
        BrokerConfig config = BrokerConfig.defaults();
        Map<String, String> settings = Map.of(
                "node.id", "7",
                "listeners", "PLAINTEXT://127.0.0.1:" + LoopbackPorts.next(),
                "admin.listener", "",
                "gateway.listener", "",
                "write.ahead.max.bytes", "1048576",
                "shutdown.timeout.ms", "3000",
                "data.directories", directory.toString(),
                "quorum.listener", listener);
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        return Broker.start(config);
    }

    private static Map<String, Object> clients(Broker broker) {
        return Map.of("bootstrap.servers", broker.bootstrapServers());
    }

    private static void createTopic(Broker broker, String name) throws Exception {
        try (Admin admin = Admin.create(clients(broker))) {
            admin.createTopics(List.of(new NewTopic(name, Optional.of(1), Optional.empty())))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static Uuid topicId(Broker broker, String name) throws Exception {
        try (Admin admin = Admin.create(clients(broker))) {
            return admin.describeTopics(List.of(name))
                    .allTopicNames()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(name)
                    .topicId();
        }
    }

    private static String clusterId(Broker broker) throws Exception {
        try (Admin admin = Admin.create(clients(broker))) {
            DescribeClusterResult cluster = admin.describeCluster();
            assertThat(cluster.controller().get(WAIT_SECONDS, TimeUnit.SECONDS).id())
                    .isEqualTo(7);
            return cluster.clusterId().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void send(Broker broker, String value) throws Exception {
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(clients(broker), new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(ORDERS.topic(), 0, null, value)).get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static List<String> receive(Broker broker, int count) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(clients(broker), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(ORDERS));
            consumer.seekToBeginning(List.of(ORDERS));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (values.size() < count && System.nanoTime() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(received -> values.add(received.value()));
            }
        }
        return values;
    }

    @Test
    void shouldDescribeTheVotersInEachVersionOfTheApi() throws Exception {
        try (Broker broker = start(quorumListener)) {
            for (short version = 0; version <= 2; version++) {
                DescribeQuorumResponse.PartitionData log = describeQuorum(broker, version)
                        .topics()
                        .get(0)
                        .partitions()
                        .get(0);

                assertThat(log.leaderId()).as("version %s", version).isEqualTo(7);
                boolean knowsDirectories = version == 2;
                assertThat(log.currentVoters()).singleElement().satisfies(voter -> {
                    assertThat(voter.replicaId()).isEqualTo(7);
                    assertThat(voter.replicaDirectoryId().equals(io.journalq.common.id.Uuid.ZERO))
                            .isEqualTo(!knowsDirectories);
                });
            }
        }
    }

    private static DescribeQuorumResponse describeQuorum(Broker broker, short version) throws Exception {
        DescribeQuorumRequest request = new DescribeQuorumRequest()
                .setTopics(List.of(new DescribeQuorumRequest.TopicData()
                        .setTopicName("__cluster_metadata")
                        .setPartitions(List.of(new DescribeQuorumRequest.PartitionData().setPartitionIndex(0)))));
        String[] address = broker.bootstrapServers().split(":", -1);
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
            for (Object part : Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "quorum-test", request, version)) {
                ByteBuf bytes = (ByteBuf) part;
                bytes.readBytes(socket.getOutputStream(), bytes.readableBytes());
                bytes.release();
            }
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(frame));
            Frames.readResponseHeader(reader, ApiKey.DESCRIBE_QUORUM, version);
            return (DescribeQuorumResponse) ApiMessages.readResponse(ApiKey.DESCRIBE_QUORUM, reader, version);
        }
    }

    @Test
    void shouldKeepIdsTopicsAndRecordsWhenASingleBrokerFoundsAQuorum() throws Exception {
        // given a single broker with data
        String cluster;
        Uuid topic;
        try (Broker broker = start("")) {
            createTopic(broker, "orders");
            send(broker, "of one broker");
            cluster = clusterId(broker);
            topic = topicId(broker, "orders");
        }

        // when it is started with a listener of a quorum
        try (Broker broker = start(quorumListener)) {
            // then
            assertThat(clusterId(broker)).isEqualTo(cluster);
            assertThat(topicId(broker, "orders")).isEqualTo(topic);
            send(broker, "of a voter");
            createTopic(broker, "payments");
            try (Admin admin = Admin.create(clients(broker))) {
                QuorumInfo quorum = admin.describeMetadataQuorum().quorumInfo().get(WAIT_SECONDS, TimeUnit.SECONDS);
                assertThat(quorum.leaderId()).isEqualTo(7);
                assertThat(quorum.voters()).hasSize(1);
            }
        }

        // and when it is started again, at another address
        try (Broker broker = start("127.0.0.1:" + LoopbackPorts.next())) {
            assertThat(clusterId(broker)).isEqualTo(cluster);
            assertThat(topicId(broker, "orders")).isEqualTo(topic);
            assertThat(topicId(broker, "payments")).isNotEqualTo(topic);
            assertThat(receive(broker, 2)).containsExactly("of one broker", "of a voter");
        }
    }

    @Test
    void shouldRefuseToStartWithoutTheListenerWhenItHasFoundedAQuorum() throws Exception {
        start(quorumListener).close();

        assertThatThrownBy(() -> start(""))
                .isInstanceOf(StartException.class)
                .hasMessage("the metadata in " + directory + " belongs to a metadata quorum, and there is no way back;"
                        + " set quorum.listener to the address of this broker in the quorum");

        start(quorumListener).close();
    }

    @Test
    void shouldRefuseToStartWhenTheDirectoryOfTheQuorumIsMissing() throws Exception {
        start(quorumListener).close();
        new SystemFileStore().delete(directory.resolve(QuorumProvider.DIRECTORY));

        for (String listener : List.of("", quorumListener)) {
            assertThatThrownBy(() -> start(listener))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("is missing; restore all data directories from a backup");
        }
        assertThat(directory.resolve(QuorumProvider.DIRECTORY)).doesNotExist();
    }

    @Test
    void shouldKeepEverythingWhenItWasKilledWhileItReplacedTheJournalOfItsMetadata() throws Exception {
        // given a voter whose journal is renamed, and not created again
        String cluster;
        Uuid topic;
        try (Broker broker = start(quorumListener)) {
            createTopic(broker, "orders");
            cluster = clusterId(broker);
            topic = topicId(broker, "orders");
        }
        new SystemFileStore().delete(directory.resolve(RatisMetadataLog.METADATA_DIRECTORY));

        // when
        try (Broker broker = start(quorumListener)) {
            // then
            assertThat(clusterId(broker)).isEqualTo(cluster);
            assertThat(topicId(broker, "orders")).isEqualTo(topic);
        }
    }

    /** The metadata of a voter, as far as a test needs them to add a batch. */
    private static final class Counted implements MetadataLog.Replica {
        private final AtomicLong endOffset = new AtomicLong();

        @Override
        public void replay(List<Message> records) {
            endOffset.addAndGet(records.size());
        }

        @Override
        public void restore(List<Message> snapshot) {
            endOffset.set(((SnapshotEndRecord) snapshot.get(snapshot.size() - 1)).version());
        }

        @Override
        public List<Message> snapshot() {
            throw new AssertionError("the log is too short for a snapshot");
        }

        @Override
        public int level() {
            return ClusterVersion.FIRST;
        }
    }

    /** Commits a batch that no broker can apply. */
    private void commitUnreadable() throws Exception {
        int port = Integer.parseInt(quorumListener.substring(quorumListener.indexOf(':') + 1));
        QuorumProvider.Voter voter = new QuorumProvider.Voter(
                7,
                "127.0.0.1",
                port,
                InetSocketAddress.createUnresolved("127.0.0.1", port),
                null,
                directory,
                new SystemFileStore(),
                Clock.systemUTC(),
                PooledByteBufAllocator.DEFAULT);
        CompletableFuture<Void> leads = new CompletableFuture<>();
        Counted metadata = new Counted();
        try (MetadataLog log = new RatisQuorumProvider().log(voter, false, null)) {
            log.onRole(role -> {
                if (role == MetadataLog.Role.LEADING) {
                    leads.complete(null);
                }
            });
            log.open(metadata);
            leads.get(WAIT_SECONDS, TimeUnit.SECONDS);
            log.propose(new MetadataBatch(
                            metadata.endOffset.get(),
                            List.of(new RemoveTopicRecord().setTopicId(new io.journalq.common.id.Uuid(1, 1)))))
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldRefuseToStartWhenARecordCannotBeApplied() throws Exception {
        start(quorumListener).close();
        commitUnreadable();

        assertThatThrownBy(() -> start(quorumListener))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("the metadata of the cluster cannot be applied");
    }

    @Test
    void shouldKeepEverythingWhenItWasKilledWhileItReplacedItsSnapshots() throws Exception {
        // given a voter whose snapshots have another name, and that has no new ones
        String cluster;
        try (Broker broker = start(quorumListener)) {
            cluster = clusterId(broker);
        }
        SystemFileStore store = new SystemFileStore();
        Path group = VoterDirectory.find(store, directory).group();
        store.move(group.resolve("sm"), group.resolve("sm.tmp20261130_041000_123"));

        // when
        try (Broker broker = start(quorumListener)) {
            // then
            assertThat(clusterId(broker)).isEqualTo(cluster);
        }
    }

    @Test
    void shouldSayWhatToDoWhenTheAddressIsInUse() throws Exception {
        try (Broker broker = start(quorumListener)) {
            assertThat(broker.bootstrapServers()).isNotEmpty();
        }
        String port = quorumListener.substring(quorumListener.indexOf(':') + 1);
        try (ServerSocket other = new ServerSocket(Integer.parseInt(port), 1, InetAddress.getLoopbackAddress())) {
            assertThat(other.isBound()).isTrue();
            assertThatThrownBy(() -> start(quorumListener))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("quorum.listener");
        }
    }
}
