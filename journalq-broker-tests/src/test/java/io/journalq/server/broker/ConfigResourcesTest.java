package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings of groups, client metrics subscriptions and running brokers, with Kafka's own administrator. */
class ConfigResourcesTest {
    private static final ConfigResource GROUP = new ConfigResource(ConfigResource.Type.GROUP, "billing");
    private static final ConfigResource METRICS = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "slow");
    private static final ConfigResource BROKER = new ConfigResource(ConfigResource.Type.BROKER, "0");
    private static final ConfigResource EVERY_BROKER = new ConfigResource(ConfigResource.Type.BROKER, "");
    private static final ConfigResource TOPIC = new ConfigResource(ConfigResource.Type.TOPIC, "orders");

    @TempDir
    Path dataDirectory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("group.consumer.heartbeat.interval.ms", "6000")
                .start();
        admin = broker.admin();
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldGiveAGroupItsOwnTimesAndKeepThemOverARestart() throws Exception {
        // given a member, which gets the broker's interval
        get(admin.listConsumerGroupOffsets("billing").partitionsToOffsetAndMetadata()); // finds the coordinator
        try (WireClient client = new WireClient(broker.port())) {
            ConsumerGroupHeartbeatResponse joined = heartbeat(client, 0);
            assertThat(joined.heartbeatIntervalMs()).isEqualTo(6_000);

            // when the group gets its own interval
            get(alter(GROUP, "consumer.heartbeat.interval.ms", "7000", OpType.SET));

            // then the member gets it with its next heartbeat
            broker.await(() -> heartbeatQuietly(client, joined.memberEpoch()) == 7_000);
        }
        ConfigEntry interval = entry(GROUP, "consumer.heartbeat.interval.ms");
        assertThat(interval.source()).isEqualTo(ConfigSource.DYNAMIC_GROUP_CONFIG);
        assertThat(interval.synonyms())
                .extracting(synonym -> synonym.name() + " " + synonym.source())
                .containsExactly(
                        "consumer.heartbeat.interval.ms DYNAMIC_GROUP_CONFIG",
                        "group.consumer.heartbeat.interval.ms STATIC_BROKER_CONFIG",
                        "group.consumer.heartbeat.interval.ms DEFAULT_CONFIG");

        // and after a restart, until it is deleted
        restart();
        assertThat(entry(GROUP, "consumer.heartbeat.interval.ms").value()).isEqualTo("7000");
        assertThat(listed(ConfigResource.Type.GROUP)).containsExactly(GROUP);
        get(alter(GROUP, "consumer.heartbeat.interval.ms", "", OpType.DELETE));
        assertThat(entry(GROUP, "consumer.heartbeat.interval.ms").value()).isEqualTo("6000");
        assertThat(listed(ConfigResource.Type.GROUP)).isEmpty();
    }

    /** The same as Kafka's test, which fails here only because it expects Kafka's default. */
    @Test
    void shouldSayWhereAGroupHasItsSettingFromWhenBrokersAndTheGroupChangeIt() throws Exception {
        String ofGroup = "consumer.assignment.interval.ms";
        String ofBroker = "group." + ofGroup;
        assertSources(ofGroup, "0", ofBroker + " DEFAULT_CONFIG");

        get(alter(BROKER, ofBroker, "1500", OpType.SET));
        assertSources(ofGroup, "1500", ofBroker + " DYNAMIC_BROKER_CONFIG", ofBroker + " DEFAULT_CONFIG");

        get(alter(EVERY_BROKER, ofBroker, "2000", OpType.SET));
        assertSources(
                ofGroup,
                "1500",
                ofBroker + " DYNAMIC_BROKER_CONFIG",
                ofBroker + " DYNAMIC_DEFAULT_BROKER_CONFIG",
                ofBroker + " DEFAULT_CONFIG");

        get(alter(GROUP, ofGroup, "3000", OpType.SET));
        assertSources(
                ofGroup,
                "3000",
                ofGroup + " DYNAMIC_GROUP_CONFIG",
                ofBroker + " DYNAMIC_BROKER_CONFIG",
                ofBroker + " DYNAMIC_DEFAULT_BROKER_CONFIG",
                ofBroker + " DEFAULT_CONFIG");
    }

    /** The value in force for the group, and the values that it is chosen from, in descending precedence. */
    private void assertSources(String name, String value, String... sources) throws Exception {
        ConfigEntry entry = entry(GROUP, name);
        assertThat(entry.value()).isEqualTo(value);
        assertThat(entry.synonyms())
                .extracting(synonym -> synonym.name() + " " + synonym.source())
                .containsExactly(sources);
        assertThat(sources[0]).endsWith(" " + entry.source());
    }

    @Test
    void shouldRefuseWhatIsOutsideTheBrokersRange() {
        assertFails(
                alter(GROUP, "consumer.session.timeout.ms", "44999", OpType.SET),
                InvalidConfigurationException.class,
                "group.consumer.min.session.timeout.ms");
        assertFails(
                alter(GROUP, "consumer.heartbeat.interval.ms", "15001", OpType.SET),
                InvalidConfigurationException.class,
                "group.consumer.max.heartbeat.interval.ms");
        assertFails(
                alter(GROUP, "consumer.session.timeout", "1", OpType.SET),
                InvalidConfigurationException.class,
                "did you mean 'consumer.session.timeout.ms'");
        assertFails(
                alter(
                        new ConfigResource(ConfigResource.Type.GROUP, ""),
                        "consumer.session.timeout.ms",
                        "1",
                        OpType.SET),
                InvalidRequestException.class,
                "empty");
        assertFails(alter(METRICS, "match", "client=x", OpType.SET), InvalidConfigurationException.class, "client_id");
        assertFails(
                alter(METRICS, "match", "client_id=(", OpType.SET), InvalidConfigurationException.class, "client_id");
        assertFails(alter(METRICS, "interval.ms", "99", OpType.SET), InvalidConfigurationException.class, "100");
        assertFails(alter(EVERY_BROKER, "node.id", "2", OpType.SET), InvalidRequestException.class, "restart");
    }

    @Test
    void shouldRefuseTimesOfGroupsAtWhichNoMemberStays() throws Exception {
        String heartbeat = "group.consumer.heartbeat.interval.ms";
        String session = "group.consumer.session.timeout.ms";
        assertFails(
                alter(EVERY_BROKER, heartbeat, "45000", OpType.SET),
                InvalidConfigurationException.class,
                "must be less than " + session);
        assertFails(alter(BROKER, session, "5000", OpType.SET), InvalidConfigurationException.class, heartbeat);

        get(alter(EVERY_BROKER, session, "100000", OpType.SET));
        get(alter(BROKER, heartbeat, "50000", OpType.SET));
        assertThat(entry(BROKER, heartbeat).value()).isEqualTo("50000");

        // and those of all brokers that would not suit the one of this broker
        assertFails(
                alter(EVERY_BROKER, session, "50000", OpType.SET),
                InvalidConfigurationException.class,
                "On broker 0: " + heartbeat);
        assertFails(alter(EVERY_BROKER, session, "", OpType.DELETE), InvalidConfigurationException.class, heartbeat);
        get(alter(BROKER, heartbeat, "", OpType.DELETE));
        get(alter(EVERY_BROKER, session, "", OpType.DELETE));
        assertThat(entry(BROKER, session).value()).isEqualTo("45000");
    }

    @Test
    void shouldKeepSubscriptionsOfClientMetricsWhenTheyAreMadeAndAddedTo() throws Exception {
        // given
        get(alter(METRICS, "metrics", "org.apache.kafka.producer.", OpType.SET));

        // when
        get(alter(METRICS, "metrics", "org.apache.kafka.consumer.", OpType.APPEND));
        get(alter(METRICS, "interval.ms", "30000", OpType.SET));

        // then
        assertThat(entry(METRICS, "metrics").value())
                .isEqualTo("org.apache.kafka.producer.,org.apache.kafka.consumer.");
        assertThat(entry(METRICS, "interval.ms").source()).isEqualTo(ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG);
        assertThat(entry(METRICS, "match").source()).isEqualTo(ConfigSource.DEFAULT_CONFIG);
        assertThat(listed(ConfigResource.Type.CLIENT_METRICS)).containsExactly(METRICS);
        get(alter(METRICS, "metrics", "org.apache.kafka.producer.", OpType.SUBTRACT));
        assertThat(entry(METRICS, "metrics").value()).isEqualTo("org.apache.kafka.consumer.");
    }

    @Test
    void shouldGiveTopicsOtherDefaultsWhenTheBrokersChangeWhileItRuns() throws Exception {
        // given
        broker.createTopic("orders", 1, Map.of());

        // when
        get(alter(EVERY_BROKER, "max.message.bytes", "2000", OpType.SET));
        get(alter(BROKER, "max.message.bytes", "1000", OpType.SET));

        // then the description of the topic has it, and it applies to producers
        ConfigEntry entry = entry(TOPIC, "max.message.bytes");
        assertThat(entry.value()).isEqualTo("1000");
        assertThat(entry.synonyms())
                .filteredOn(synonym -> synonym.name().equals("max.message.bytes"))
                .extracting(ConfigEntry.ConfigSynonym::source)
                .containsExactly(
                        ConfigSource.DYNAMIC_BROKER_CONFIG,
                        ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
                        ConfigSource.DEFAULT_CONFIG);
        assertThat(get(admin.describeConfigs(List.of(EVERY_BROKER)).all())
                        .get(EVERY_BROKER)
                        .entries())
                .extracting(ConfigEntry::name)
                .containsExactlyInAnyOrder("max.message.bytes", "message.max.bytes");
        try (WireClient client = new WireClient(broker.port())) {
            broker.await(() -> produceQuietly(client, 1_500) == 10);
            get(alter(BROKER, "max.message.bytes", "", OpType.DELETE));
            broker.await(() -> produceQuietly(client, 1_500) == 0);
        }
    }

    private short produceQuietly(WireClient client, int size) {
        try {
            return client.produce("orders", 0, WireClient.batch(1, new byte[size]))
                    .errorCode();
        } catch (java.io.IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private static ConsumerGroupHeartbeatResponse heartbeat(WireClient client, int memberEpoch)
            throws java.io.IOException {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId("billing")
                .setMemberId("member")
                .setMemberEpoch(memberEpoch);
        if (memberEpoch == 0) {
            request.setRebalanceTimeoutMs(60_000)
                    .setSubscribedTopicNames(List.of("orders"))
                    .setTopicPartitions(List.of());
        }
        return client.call(ConsumerGroupHeartbeatResponse.class, request, 1);
    }

    private static int heartbeatQuietly(WireClient client, int memberEpoch) {
        try {
            return heartbeat(client, memberEpoch).heartbeatIntervalMs();
        } catch (java.io.IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private void restart() throws Exception {
        admin.close();
        broker.stop();
        broker.start();
        admin = broker.admin();
    }

    private ConfigEntry entry(ConfigResource resource, String name) throws Exception {
        return get(admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeSynonyms(true))
                        .all())
                .get(resource)
                .get(name);
    }

    private Collection<ConfigResource> listed(ConfigResource.Type type) throws Exception {
        return get(admin.listConfigResources(Set.of(type), new ListConfigResourcesOptions())
                .all());
    }

    private KafkaFuture<Void> alter(ConfigResource resource, String name, String value, OpType type) {
        return admin.incrementalAlterConfigs(
                        Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), type))))
                .all();
    }

    private static void assertFails(KafkaFuture<?> future, Class<? extends Throwable> error, String words) {
        assertThatThrownBy(() -> get(future)).cause().isInstanceOf(error).hasMessageContaining(words);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }
}
