package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.server.api.admin.config.IneffectiveSettings;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Scripts for Kafka: its topic settings, and its names for the broker's defaults of them. */
class KafkaSettingsTest {
    private static final long SECONDS = 20;
    private static final ConfigResource ORDERS = new ConfigResource(ConfigResource.Type.TOPIC, "orders");
    private static final ConfigResource BROKER = new ConfigResource(ConfigResource.Type.BROKER, "0");
    private static final ConfigResource EVERY_BROKER = new ConfigResource(ConfigResource.Type.BROKER, "");

    @TempDir
    Path directory;

    private final Logger log = (Logger) LoggerFactory.getLogger(IneffectiveSettings.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        lines.start();
        log.setLevel(Level.WARN);
        log.addAppender(lines);
        broker = new TestBroker(directory).start();
        admin = broker.admin();
        broker.createTopic("orders", 1, Map.of());
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
        log.setLevel(null);
        admin.close();
        broker.close();
    }

    @Test
    void shouldCreateATopicThatSetsEverythingThatKafkasTopicsHave() throws Exception {
        Map<String, String> configs = new TreeMap<>();
        for (String name : LogConfig.nonInternalConfigNames()) {
            ConfigDef.ConfigKey key = LogConfig.configKeys().get(name);
            configs.put(name, ConfigDef.convertToString(key.defaultValue, key.type));
        }

        broker.createTopic("everything", 1, configs);

        Config described = describe(new ConfigResource(ConfigResource.Type.TOPIC, "everything"));
        configs.forEach((name, value) -> {
            assertThat(described.get(name).value()).as(name).isEqualTo(value);
            assertThat(described.get(name).source()).as(name).isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        });
        assertThat(described.get("internal.segment.bytes")).isNull();
    }

    @Test
    void shouldKeepSettingsWithoutEffectOverARestartAndLogEachOnce() throws Exception {
        broker.createTopic("first", 1, Map.of("preallocate", "true", "flush.messages", "500"));
        broker.createTopic("second", 1, Map.of("preallocate", "true"));
        get(alter(ORDERS, "remote.log.copy.disable", "true", OpType.SET));
        get(alter(ORDERS, "remote.log.copy.disable", "false", OpType.SET));
        get(alter(ORDERS, "flush.messages", "1", OpType.SET));

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).contains("without effect", "preallocate=true"),
                        line -> assertThat(line).contains("without effect", "flush.messages=500"),
                        line -> assertThat(line).contains("without effect", "remote.log.copy.disable=true"));

        admin.close();
        broker.stop();
        broker.start();
        admin = broker.admin();
        Config first = describe(new ConfigResource(ConfigResource.Type.TOPIC, "first"));
        assertThat(first.get("preallocate").value()).isEqualTo("true");
        assertThat(first.get("preallocate").type()).isEqualTo(ConfigEntry.ConfigType.BOOLEAN);
    }

    @Test
    void shouldLogASettingWithoutEffectThatTheBrokerStartsWith() throws Exception {
        admin.close();
        broker.stop();
        broker.with("preallocate", "true").start();
        admin = broker.admin();

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .contains("preallocate=true");
    }

    @Test
    void shouldRefuseWhatKafkaRefusesOfASettingWithoutEffect() {
        assertThatThrownBy(() -> get(alter(ORDERS, "compression.lz4.level", "18", OpType.SET)))
                .hasCauseInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("from 1 to 17");
        assertThatThrownBy(() -> get(alter(ORDERS, "leader.replication.throttled.replicas", "0", OpType.SET)))
                .hasCauseInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("partition:broker");
        assertThatThrownBy(() -> get(alter(ORDERS, "preallocat", "true", OpType.SET)))
                .hasCauseInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("did you mean 'preallocate'?");
    }

    @Test
    void shouldTreatFlushMsAsTheFlushInterval() throws Exception {
        broker.createTopic("flushed", 1, Map.of("flush.ms", "2500"));
        ConfigResource flushed = new ConfigResource(ConfigResource.Type.TOPIC, "flushed");

        assertThat(describe(flushed).get("flush.interval.ms").value()).isEqualTo("2500");
        assertThat(describe(flushed).get("flush.ms").value()).isEqualTo("2500");

        get(alter(flushed, "flush.interval.ms", "3s", OpType.SET));
        assertThat(describe(flushed).get("flush.ms").value()).isEqualTo("3000");
        get(alter(flushed, "flush.ms", "", OpType.DELETE));
        assertThat(describe(flushed).get("flush.interval.ms").source())
                .isEqualTo(ConfigEntry.ConfigSource.DEFAULT_CONFIG);
    }

    @Test
    void shouldReportPlainNumbersWhenTopicSettingsHaveUnits() throws Exception {
        // given
        NewTopic created = new NewTopic("created", 1, (short) 1)
                .configs(Map.of("retention.ms", "5h", "segment.bytes", "64MiB", "max.message.bytes", "2 MiB"));

        // when
        CreateTopicsResult result = admin.createTopics(List.of(created));
        get(alter(ORDERS, "retention.ms", "5h", OpType.SET));
        get(alter(ORDERS, "retention.bytes", "10GiB", OpType.SET));

        // then
        assertThat(get(result.config("created")).get("retention.ms").value()).isEqualTo("18000000");
        Config ofCreated = describe(new ConfigResource(ConfigResource.Type.TOPIC, "created"));
        assertNumber(ofCreated, "retention.ms", ConfigEntry.ConfigType.LONG, "18000000");
        assertNumber(ofCreated, "segment.bytes", ConfigEntry.ConfigType.INT, "67108864");
        assertNumber(ofCreated, "max.message.bytes", ConfigEntry.ConfigType.INT, "2097152");
        Config ofAltered = describe(ORDERS);
        assertNumber(ofAltered, "retention.ms", ConfigEntry.ConfigType.LONG, "18000000");
        assertNumber(ofAltered, "retention.bytes", ConfigEntry.ConfigType.LONG, "10737418240");
    }

    @Test
    void shouldReportPlainNumbersWhenBrokerSettingsHaveUnits() throws Exception {
        // given
        admin.close();
        broker.stop();
        broker.with("retention.ms", "5h").with("segment.bytes", "64MiB").start();
        admin = broker.admin();
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "billing");

        // when
        get(alter(BROKER, "flush.interval.ms", "2s", OpType.SET));
        get(alter(EVERY_BROKER, "retention.bytes", "1GiB", OpType.SET));
        get(alter(group, "consumer.session.timeout.ms", "50s", OpType.SET));

        // then
        for (ConfigResource resource : List.of(BROKER, ORDERS)) {
            Config described = describe(resource);
            assertNumber(described, "retention.ms", ConfigEntry.ConfigType.LONG, "18000000");
            assertNumber(described, "segment.bytes", ConfigEntry.ConfigType.INT, "67108864");
            assertNumber(described, "flush.interval.ms", ConfigEntry.ConfigType.LONG, "2000");
            assertNumber(described, "retention.bytes", ConfigEntry.ConfigType.LONG, "1073741824");
        }
        assertThat(describe(EVERY_BROKER).get("retention.bytes").value()).isEqualTo("1073741824");
        assertThat(describe(group).get("consumer.session.timeout.ms").value()).isEqualTo("50000");
    }

    private static void assertNumber(Config config, String name, ConfigEntry.ConfigType type, String value) {
        assertThat(config.get(name).value()).as(name).isEqualTo(value);
        assertThat(config.get(name).type()).as(name).isEqualTo(type);
        assertThat(config.get(name).synonyms()).first().satisfies(first -> assertThat(first.value())
                .isEqualTo(value));
    }

    @Test
    void shouldRefuseOneSettingUnderTwoNames() {
        assertThatThrownBy(() -> get(admin.createTopics(List.of(new NewTopic("twice", 1, (short) 1)
                                .configs(Map.of("flush.ms", "1", "flush.interval.ms", "2"))))
                        .all()))
                .hasCauseInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("flush.interval.ms is named twice");
        assertThatThrownBy(() -> get(admin.incrementalAlterConfigs(Map.of(
                                BROKER,
                                List.of(
                                        op("log.retention.hours", "1", OpType.SET),
                                        op("log.retention.ms", "1", OpType.SET))))
                        .all()))
                .hasCauseInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("retention.ms is named twice");
    }

    @Test
    void shouldTakeKafkasNamesOfTheBrokersDefaults() throws Exception {
        get(alter(EVERY_BROKER, "log.retention.hours", "2", OpType.SET));
        get(alter(BROKER, "log.segment.bytes", "2097152", OpType.SET));

        Config topic = describe(ORDERS);
        assertThat(topic.get("retention.ms").value()).isEqualTo("7200000");
        assertThat(topic.get("segment.bytes").value()).isEqualTo("2097152");
        assertThat(topic.get("retention.ms").synonyms())
                .extracting(ConfigEntry.ConfigSynonym::name)
                .containsSubsequence(
                        "retention.ms", "log.retention.ms", "log.retention.minutes", "log.retention.hours");
        Config ofBroker = describe(BROKER);
        assertThat(ofBroker.get("log.retention.minutes").value()).isEqualTo("120");
        assertThat(ofBroker.get("log.retention.ms").source())
                .isEqualTo(ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG);
        assertThat(ofBroker.get("log.flush.interval.ms").value()).isEqualTo("1000");
        assertThat(ofBroker.get("log.dirs").value()).isEqualTo(directory.toString());
        assertThat(ofBroker.get("log.dirs").isReadOnly()).isTrue();
        assertThat(describe(EVERY_BROKER).get("log.retention.hours").value()).isEqualTo("2");
        assertThatThrownBy(() -> get(alter(BROKER, "log.dirs", "/other", OpType.SET)))
                .hasCauseInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("restart");

        get(alter(EVERY_BROKER, "log.retention.ms", "", OpType.DELETE));
        assertThat(describe(ORDERS).get("retention.ms").value()).isEqualTo("604800000");
    }

    @Test
    void shouldSucceedWhenWhatIsDeletedIsNotSet() throws Exception {
        for (ConfigResource resource : List.of(ORDERS, BROKER, EVERY_BROKER)) {
            get(alter(resource, "leader.replication.throttled.rate", "", OpType.DELETE));
            get(alter(resource, "retention.ms", "", OpType.DELETE));
        }
        assertThatThrownBy(() -> get(alter(BROKER, "log.cleaner.io.max.bytes.per.second", "1", OpType.SET)))
                .hasCauseInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> get(alter(BROKER, "listeners", "", OpType.DELETE)))
                .hasCauseInstanceOf(InvalidRequestException.class);
    }

    private Config describe(ConfigResource resource) throws Exception {
        return get(admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeSynonyms(true))
                        .all())
                .get(resource);
    }

    private KafkaFuture<Void> alter(ConfigResource resource, String name, String value, OpType type) {
        Map<ConfigResource, Collection<AlterConfigOp>> changes = Map.of(resource, List.of(op(name, value, type)));
        return admin.incrementalAlterConfigs(changes).all();
    }

    private static AlterConfigOp op(String name, String value, OpType type) {
        return new AlterConfigOp(new ConfigEntry(name, value), type);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
