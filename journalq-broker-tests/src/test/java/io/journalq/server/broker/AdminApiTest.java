package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidReplicaAssignmentException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Topics, settings and descriptions, with Kafka's own administrator. */
class AdminApiTest {
    private static final long SECONDS = 20;
    private static final ConfigResource ORDERS = new ConfigResource(ConfigResource.Type.TOPIC, "orders");
    private static final ConfigResource BROKER = new ConfigResource(ConfigResource.Type.BROKER, "0");

    @TempDir
    private Path directory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).with("retention.ms", "2d").start();
        admin = broker.admin();
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldDescribeItselfAsAClusterOfOne() throws Exception {
        DescribeClusterResult cluster =
                admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true));

        assertThat(get(cluster.clusterId())).hasSize(22);
        assertThat(get(cluster.nodes())).singleElement().satisfies(node -> {
            assertThat(node.id()).isZero();
            assertThat(node.host()).isEqualTo("127.0.0.1");
            assertThat(node.port()).isEqualTo(broker.port());
        });
        assertThat(get(cluster.controller()).id()).isZero();
        assertThat(get(cluster.authorizedOperations())).contains(AclOperation.CREATE, AclOperation.ALTER_CONFIGS);
    }

    @Test
    void shouldReturnTheCreatedTopicWhenItIsCreated() throws Exception {
        CreateTopicsResult created = admin.createTopics(
                List.of(new NewTopic("orders", 3, (short) -1).configs(Map.of("segment.bytes", "1MiB"))));

        assertThat(get(created.numPartitions("orders"))).isEqualTo(3);
        assertThat(get(created.replicationFactor("orders"))).isEqualTo(1);
        ConfigEntry segment = get(created.config("orders")).get("segment.bytes");
        assertThat(segment.source()).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        TopicDescription topic = describe("orders");
        assertThat(topic.topicId()).isEqualTo(get(created.topicId("orders"))).isNotEqualTo(Uuid.ZERO_UUID);
        assertThat(topic.partitions()).hasSize(3).allSatisfy(partition -> {
            assertThat(partition.leader().id()).isZero();
            assertThat(partition.replicas()).hasSize(1);
            assertThat(partition.isr()).hasSize(1);
        });
        assertThat(get(admin.listTopics().names())).containsExactly("orders");
        assertThat(get(admin.describeTopics(TopicCollection.ofTopicIds(List.of(topic.topicId())))
                        .allTopicIds()))
                .containsOnlyKeys(topic.topicId());
    }

    @Test
    void shouldDescribeATopicThatIsLargerThanOnePage() throws Exception {
        get(admin.createTopics(List.of(new NewTopic("large", 25, (short) 1))).all());
        get(admin.createTopics(List.of(new NewTopic("next", 2, (short) 1))).all());

        DescribeTopicsOptions pages = new DescribeTopicsOptions().partitionSizeLimitPerResponse(10);
        assertThat(get(admin.describeTopics(List.of("large"), pages).allTopicNames())
                        .get("large")
                        .partitions())
                .extracting(partition -> partition.partition())
                .isEqualTo(Stream.iterate(0, number -> number + 1).limit(25).toList());
        assertThat(get(admin.describeTopics(List.of("large", "next"), pages).allTopicNames())
                        .get("next")
                        .partitions())
                .hasSize(2);
    }

    @Test
    void shouldRefuseTopicsWithThePreciseError() throws Exception {
        get(admin.createTopics(List.of(new NewTopic("a.b", 1, (short) 1))).all());

        assertRefused(new NewTopic("../x", 1, (short) 1), InvalidTopicException.class, "ASCII letters");
        assertRefused(new NewTopic("..", 1, (short) 1), InvalidTopicException.class, "'..'");
        assertRefused(new NewTopic("a_b", 1, (short) 1), InvalidTopicException.class, "'a.b'");
        assertRefused(new NewTopic("a.b", 1, (short) 1), TopicExistsException.class, "already exists");
        assertRefused(new NewTopic("c", 0, (short) 1), InvalidPartitionsException.class, "max.partitions.per.topic");
        assertRefused(new NewTopic("c", 10_001, (short) 1), InvalidPartitionsException.class, "10000");
        assertRefused(
                new NewTopic("c", 1, (short) 3),
                InvalidReplicationFactorException.class,
                "because only 1 broker(s) are registered");
        assertRefused(
                new NewTopic("c", Map.of(0, List.of(0), 1, List.of(9))),
                InvalidReplicaAssignmentException.class,
                "includes broker 9, but no such broker is registered");
        assertRefused(
                new NewTopic("c", Map.of(1, List.of(0))), InvalidReplicaAssignmentException.class, "without a gap");
        assertRefused(
                new NewTopic("c", 1, (short) 1).configs(Map.of("retention.mss", "1")),
                InvalidConfigurationException.class,
                "did you mean 'retention.ms'?");
        assertRefused(
                new NewTopic("c", 1, (short) 1).configs(Map.of("cleanup.policy", "freeze")),
                InvalidConfigurationException.class,
                "must be one of compact, delete");
        assertThat(get(admin.listTopics().names())).containsExactly("a.b");
    }

    @Test
    void shouldCreateByAssignmentAndNothingWhenItOnlyValidates() throws Exception {
        get(admin.createTopics(List.of(new NewTopic("assigned", Map.of(0, List.of(0), 1, List.of(0)))))
                .all());
        get(admin.createTopics(
                        List.of(new NewTopic("checked", 1, (short) 1)), new CreateTopicsOptions().validateOnly(true))
                .all());

        assertThat(get(admin.listTopics().names())).containsExactly("assigned");
        assertThat(describe("assigned").partitions()).hasSize(2);
    }

    @Test
    void shouldDescribeATopicThatItOnlyValidates() throws Exception {
        NewTopic checked =
                new NewTopic("checked", Optional.of(3), Optional.empty()).configs(Map.of("retention.ms", "5"));

        CreateTopicsResult result = admin.createTopics(List.of(checked), new CreateTopicsOptions().validateOnly(true));

        assertThat(get(result.numPartitions("checked"))).isEqualTo(3);
        assertThat(get(result.replicationFactor("checked"))).isOne();
        assertThat(get(result.config("checked")).get("retention.ms").value()).isEqualTo("5");
        assertThat(get(result.topicId("checked"))).isEqualTo(Uuid.ZERO_UUID);
    }

    @Test
    void shouldDeleteByNameAndById() throws Exception {
        get(admin.createTopics(Stream.of("a", "b", "c")
                        .map(name -> new NewTopic(name, 1, (short) 1))
                        .toList())
                .all());
        Uuid idOfB = describe("b").topicId();

        get(admin.deleteTopics(List.of("a")).all());
        get(admin.deleteTopics(TopicCollection.ofTopicIds(List.of(idOfB))).all());

        assertThat(get(admin.listTopics().names())).containsExactly("c");
        assertFails(admin.deleteTopics(List.of("a")).all(), UnknownTopicOrPartitionException.class, "'a'");
        assertFails(
                admin.deleteTopics(TopicCollection.ofTopicIds(List.of(idOfB))).all(),
                UnknownTopicIdException.class,
                "id");
        get(admin.createTopics(List.of(new NewTopic("b", 1, (short) 1))).all());
        assertThat(describe("b").topicId()).isNotEqualTo(idOfB);
    }

    @Test
    void shouldAddPartitionsThatTakeMessagesAtOnce() throws Exception {
        broker.createTopic("orders", 1, Map.of());

        get(admin.createPartitions(Map.of("orders", NewPartitions.increaseTo(4)))
                .all());

        assertThat(describe("orders").partitions()).hasSize(4);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            RecordMetadata sent = producer.send(new ProducerRecord<>("orders", 3, null, bytes("x")))
                    .get(SECONDS, TimeUnit.SECONDS);
            assertThat(sent.partition()).isEqualTo(3);
        }
        assertFails(
                admin.createPartitions(Map.of("orders", NewPartitions.increaseTo(4)))
                        .all(),
                InvalidPartitionsException.class,
                "can only grow");
        assertFails(
                admin.createPartitions(Map.of("none", NewPartitions.increaseTo(4)))
                        .all(),
                UnknownTopicOrPartitionException.class,
                "'none'");
    }

    @Test
    void shouldSayWhereATopicsSettingComesFrom() throws Exception {
        broker.createTopic("orders", 1, Map.of("segment.bytes", "4096"));

        Config config = get(admin.describeConfigs(
                                List.of(ORDERS),
                                new DescribeConfigsOptions()
                                        .includeSynonyms(true)
                                        .includeDocumentation(true))
                        .all())
                .get(ORDERS);

        ConfigEntry own = config.get("segment.bytes");
        assertThat(own.value()).isEqualTo("4096");
        assertThat(own.source()).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        assertThat(own.type()).isEqualTo(ConfigEntry.ConfigType.INT);
        assertThat(own.isReadOnly()).isFalse();
        assertThat(own.documentation()).isNotBlank();
        ConfigEntry brokers = config.get("retention.ms");
        assertThat(brokers.value()).isEqualTo("172800000");
        assertThat(brokers.source()).isEqualTo(ConfigEntry.ConfigSource.STATIC_BROKER_CONFIG);
        assertThat(brokers.synonyms())
                .filteredOn(synonym -> synonym.name().equals("retention.ms"))
                .extracting(ConfigEntry.ConfigSynonym::source)
                .containsExactly(
                        ConfigEntry.ConfigSource.STATIC_BROKER_CONFIG, ConfigEntry.ConfigSource.DEFAULT_CONFIG);
        ConfigEntry unset = config.get("cleanup.policy");
        assertThat(unset.value()).isEqualTo("delete");
        assertThat(unset.source()).isEqualTo(ConfigEntry.ConfigSource.DEFAULT_CONFIG);
        assertThat(unset.isDefault()).isTrue();
    }

    @Test
    void shouldShowMostOfTheBrokersSettingsAsReadOnly() throws Exception {
        Config config = get(admin.describeConfigs(List.of(BROKER)).all()).get(BROKER);

        assertThat(config.get("num.partitions").isReadOnly()).isTrue();
        assertThat(config.get("retention.ms").isReadOnly()).isFalse();
        assertThat(config.get("num.partitions").value()).isEqualTo("1");
        assertThat(config.get("listeners").source()).isEqualTo(ConfigEntry.ConfigSource.STATIC_BROKER_CONFIG);
        assertFails(alter(BROKER, "num.partitions", "2", OpType.SET), InvalidRequestException.class, "restart");
    }

    @Test
    void shouldAlterATopicsSettingsOneByOne() throws Exception {
        broker.createTopic("orders", 1, Map.of("segment.bytes", "4096"));

        get(alter(ORDERS, "retention.ms", "1h", OpType.SET));
        get(alter(ORDERS, "segment.bytes", "", OpType.DELETE));

        assertThat(setting("retention.ms").source()).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        assertThat(setting("segment.bytes").value()).isEqualTo("1073741824");
        assertFails(
                alter(ORDERS, "retention.ms", "soon", OpType.SET), InvalidConfigurationException.class, "whole number");
        assertFails(alter(ORDERS, "color", "1", OpType.SET), InvalidConfigurationException.class, "Unknown setting");
        assertFails(
                alter(ORDERS, "delivery.mode", "eventual", OpType.APPEND), InvalidConfigurationException.class, "list");
        assertFails(
                alter(new ConfigResource(ConfigResource.Type.TOPIC, "none"), "retention.ms", "1", OpType.SET),
                UnknownTopicOrPartitionException.class,
                "'none'");
    }

    @Test
    void shouldAlterNothingWhenItOnlyValidates() throws Exception {
        broker.createTopic("orders", 1, Map.of());
        Map<ConfigResource, Collection<AlterConfigOp>> changes =
                Map.of(ORDERS, List.of(new AlterConfigOp(new ConfigEntry("retention.ms", "1"), OpType.SET)));

        get(admin.incrementalAlterConfigs(changes, new AlterConfigsOptions().validateOnly(true))
                .all());

        assertThat(setting("retention.ms").value()).isEqualTo("172800000");
    }

    @Test
    void shouldTellWhatPartitionsOccupy() throws Exception {
        broker.createTopic("orders", 2, Map.of());
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            var unused = producer.send(new ProducerRecord<>("orders", 1, null, new byte[10_000]))
                    .get(SECONDS, TimeUnit.SECONDS);
        }

        var directories =
                get(admin.describeLogDirs(List.of(0)).allDescriptions()).get(0);

        assertThat(directories).hasSize(1);
        var description = directories.values().iterator().next();
        assertThat(description.totalBytes().orElse(0)).isPositive();
        var sizes = description.replicaInfos();
        assertThat(sizes.get(new TopicPartition("orders", 0)).size()).isZero();
        assertThat(sizes.get(new TopicPartition("orders", 1)).size()).isGreaterThan(100);
    }

    @Test
    void shouldCreateATopicThatAProducerAsksFor() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            assertThat(producer.send(new ProducerRecord<>("asked.for", bytes("x")))
                            .get(SECONDS, TimeUnit.SECONDS)
                            .offset())
                    .isZero();
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("../x", bytes("x")))
                            .get(SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(InvalidTopicException.class);
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("asked_for", bytes("x")))
                            .get(SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(InvalidTopicException.class);
        }
        assertThat(get(admin.listTopics().names())).containsExactly("asked.for");
    }

    @Test
    void shouldCreateNoTopicOnRequestWhenThatIsSwitchedOff() throws Exception {
        admin.close();
        broker.stop();
        broker.with("auto.create.topics.enable", "false").start();
        admin = broker.admin();

        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("max.block.ms", 1_000))) {
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("asked-for", bytes("x")))
                            .get(SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class);
        }
        assertThat(get(admin.listTopics().names())).isEmpty();
    }

    @Test
    void shouldHaveTopicsAndSettingsAgainWhenItStartsAgain() throws Exception {
        broker.createTopic("orders", 3, Map.of("segment.bytes", "4096"));
        broker.createTopic("gone", 3, Map.of());
        get(admin.deleteTopics(List.of("gone")).all());
        Uuid id = describe("orders").topicId();
        String cluster = get(admin.describeCluster().clusterId());

        admin.close();
        broker.stop();
        broker.start();
        admin = broker.admin();

        assertThat(get(admin.listTopics().names())).containsExactly("orders");
        assertThat(describe("orders").topicId()).isEqualTo(id);
        assertThat(describe("orders").partitions()).hasSize(3);
        assertThat(setting("segment.bytes").value()).isEqualTo("4096");
        assertThat(get(admin.describeCluster().clusterId())).isEqualTo(cluster);
    }

    private void assertRefused(NewTopic topic, Class<? extends Throwable> error, String words) {
        assertFails(admin.createTopics(List.of(topic)).all(), error, words);
    }

    private static void assertFails(KafkaFuture<?> future, Class<? extends Throwable> error, String words) {
        assertThatThrownBy(() -> get(future)).cause().isInstanceOf(error).hasMessageContaining(words);
    }

    private KafkaFuture<Void> alter(ConfigResource resource, String name, String value, OpType type) {
        return admin.incrementalAlterConfigs(
                        Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), type))))
                .all();
    }

    private ConfigEntry setting(String name) throws Exception {
        return get(admin.describeConfigs(List.of(ORDERS)).all()).get(ORDERS).get(name);
    }

    private TopicDescription describe(String name) throws Exception {
        return get(admin.describeTopics(List.of(name)).allTopicNames()).get(name);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
