package io.journalq.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerConfigLoaderTest {
    private static final String FETCH_VARIABLE = "JOURNALQ_FETCH_MAX_BYTES";

    @TempDir
    private Path directory;

    @Test
    void shouldHoldEveryDefaultWhenNothingIsSet() throws Exception {
        BrokerConfig config = BrokerConfigLoader.load(null, Map.of(), List.of());

        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            assertThat((Object) config.get(key)).as(key.name()).isEqualTo(key.defaultValue());
            assertThat(config.origin(key)).as(key.name()).isEqualTo(ConfigOrigin.DEFAULT);
        }
    }

    @Test
    void shouldPreferCommandLineToEnvironmentToFileToDefault() throws Exception {
        Path file = file("fetch.max.bytes: 10000", "shards: 3", "num.partitions: 4");
        Map<String, String> environment = Map.of(FETCH_VARIABLE, "20000", "JOURNALQ_SHARDS", "5");

        BrokerConfig config = BrokerConfigLoader.load(file, environment, List.of("fetch.max.bytes=30000"));

        assertThat(config.get(BrokerSettings.FETCH_MAX_BYTES)).isEqualTo(30_000);
        assertThat(config.origin(BrokerSettings.FETCH_MAX_BYTES)).isEqualTo(ConfigOrigin.COMMAND_LINE);
        assertThat(config.get(BrokerSettings.SHARDS)).isEqualTo(5);
        assertThat(config.origin(BrokerSettings.SHARDS)).isEqualTo(ConfigOrigin.ENVIRONMENT);
        assertThat(config.get(BrokerSettings.NUM_PARTITIONS)).isEqualTo(4);
        assertThat(config.origin(BrokerSettings.NUM_PARTITIONS)).isEqualTo(ConfigOrigin.FILE);
    }

    @Test
    void shouldReadUnitsListsAndQuotedValuesWhenTheFileHoldsThem() throws Exception {
        Path file = file(
                "# a comment",
                "fetch.max.bytes: 1MiB",
                "retention.ms: 7d",
                "listeners:",
                "  - PLAINTEXT://localhost:0",
                "  - internal://[::1]:9094",
                "listener.security.protocol.map: PLAINTEXT:PLAINTEXT,Internal:plaintext",
                "data.directories: 'one, two'",
                "auto.create.topics.enable: false");

        BrokerConfig config = BrokerConfigLoader.load(file, Map.of(), List.of());

        assertThat(config.get(BrokerSettings.FETCH_MAX_BYTES)).isEqualTo(1 << 20);
        assertThat(config.topicDefaults().get(TopicSettings.RETENTION_MS)).isEqualTo(604_800_000L);
        assertThat(config.text(TopicSettings.RETENTION_MS)).isEqualTo("604800000");
        assertThat(config.listeners())
                .containsExactly(
                        new ListenerAddress("PLAINTEXT", "localhost", 0), new ListenerAddress("INTERNAL", "::1", 9094));
        assertThat(config.dataDirectories()).containsExactly(Path.of("one"), Path.of("two"));
        assertThat(config.get(BrokerSettings.AUTO_CREATE_TOPICS)).isFalse();
    }

    @Test
    void shouldAdvertiseTheListenersOwnAddressWhenOnlyOthersAreAdvertised() throws Exception {
        BrokerConfig config = BrokerConfigLoader.load(
                null,
                Map.of(),
                List.of(
                        "listeners=ONE://127.0.0.1:0,TWO://127.0.0.1:0",
                        "listener.security.protocol.map=ONE:PLAINTEXT,TWO:PLAINTEXT",
                        "advertised.listeners=ONE://broker.example.com:19092"));
        ListenerAddress two = new ListenerAddress("TWO", "127.0.0.1", 40_001);

        assertThat(config.advertisedFor(List.of(new ListenerAddress("ONE", "127.0.0.1", 40_000), two)))
                .containsExactly(new ListenerAddress("ONE", "broker.example.com", 19_092), two);
    }

    @Test
    void shouldNameFileLineAndNearestKeyWhenAKeyOfTheFileIsUnknown() throws Exception {
        Path file = file("# settings", "node.id: 1", "fetch.max.byte: 1000");

        assertThatThrownBy(() -> BrokerConfigLoader.load(file, Map.of(), List.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(file + " line 3")
                .hasMessageContaining("'fetch.max.byte'")
                .hasMessageContaining("did you mean 'fetch.max.bytes'?");
    }

    @Test
    void shouldNameTheVariableWhenAnEnvironmentVariableIsUnknown() {
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of("JOURNALQ_NUM_PARTITION", "1"), List.of()))
                .hasMessageContaining("JOURNALQ_NUM_PARTITION")
                .hasMessageContaining("did you mean 'num.partitions'?");
    }

    @Test
    void shouldNameTheOptionWhenAnAssignmentIsWrong() {
        assertRefused("--set", "num.partitons=3", "did you mean 'num.partitions'?");
        assertRefused("--set", "num.partitions=0", "must be from 1 to 100000");
        assertRefused("--set", "num.partitions=many", "must be a whole number");
        assertRefused("key=value", "num.partitions", "");
        assertRefused("--set", "auto.create.topics.enable=yes", "must be true or false");
        assertRefused("--set", "cleanup.policy=freeze", "must be one of compact, delete");
    }

    @Test
    void shouldSuggestNothingWhenNoNameIsNear() {
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), List.of("zookeeper.connect.string=x")))
                .hasMessageContaining("'zookeeper.connect.string'")
                .hasMessageNotContaining("did you mean");
    }

    @Test
    void shouldIgnoreVariablesOfScriptsAndOfSchedulers() throws Exception {
        Map<String, String> environment = Map.of(
                "JOURNALQ_HEAP", "1g",
                "JOURNALQ_SERVICE_HOST", "10.0.0.1",
                "JOURNALQ_SERVICE_PORT_KAFKA", "9092",
                "JOURNALQ_PORT", "tcp://10.0.0.1:9092",
                "JOURNALQ_PORT_9092_TCP_ADDR", "10.0.0.1",
                "PATH", "/bin");

        BrokerConfig config = BrokerConfigLoader.load(null, environment, List.of());

        assertThat(config.get(ListenerSettings.LISTENERS)).isEqualTo(ListenerSettings.LISTENERS.defaultValue());
    }

    @Test
    void shouldIgnoreVariablesOfOtherServicesWhoseNamesBeginLikeItsOwn() throws Exception {
        Map<String, String> environment = Map.of(
                "JOURNALQ_CONSOLE_SERVICE_HOST", "10.0.0.1",
                "JOURNALQ_CONSOLE_SERVICE_PORT", "8082",
                "JOURNALQ_CONSOLE_SERVICE_PORT_HTTP", "8082",
                "JOURNALQ_CONSOLE_PORT", "tcp://10.0.0.1:8082",
                "JOURNALQ_CONSOLE_PORT_8082_TCP", "tcp://10.0.0.1:8082",
                "JOURNALQ_CONSOLE_PORT_8082_TCP_PROTO", "tcp");

        BrokerConfig config = BrokerConfigLoader.load(null, environment, List.of());

        assertThat(config.get(ListenerSettings.LISTENERS)).isEqualTo(ListenerSettings.LISTENERS.defaultValue());
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of("JOURNALQ_ADMIN_PORT", "9644"), List.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("'admin.port'");
    }

    @Test
    void shouldReachEveryKeyThroughTheEnvironment() throws Exception {
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            String variable = "JOURNALQ_" + key.name().toUpperCase(Locale.ROOT).replace('.', '_');
            Map<String, String> environment = Map.of(variable, key.format(key.defaultValue()));

            BrokerConfig config = BrokerConfigLoader.load(null, environment, List.of());

            assertThat(config.origin(key)).as(variable).isEqualTo(ConfigOrigin.ENVIRONMENT);
            assertThat((Object) config.get(key)).as(variable).isEqualTo(key.defaultValue());
        }
    }

    @Test
    void shouldSayWhereWhenTheFileIsNotWhatItShouldBe() throws Exception {
        assertFileRefused("is set twice", "shards: 1", "shards: 2");
        assertFileRefused("keys are dotted, not nested", "num:", "  partitions: 3");
        assertFileRefused("lines of the form 'key: value'", "- shards");
        assertFileRefused("must be plain values", "listeners:", "  - [a, b]");
        assertFileRefused("line 3: not YAML", "shards: 1", "listeners: [a", "node.id: 1");
        assertFileRefused("line 2: not YAML: lines must have the form 'key: value'", "shards: 1", "node.id=1", "a: 1");
        assertFileRefused("line 3: not YAML: lines must have the form", "shards: 1", "node.id: 1", "num.partitions=3");
        assertFileRefused("line 2: not YAML", "shards: 1", "\tnode.id: 1");
        assertThatThrownBy(() -> BrokerConfigLoader.load(directory.resolve("none.yaml"), Map.of(), List.of()))
                .hasMessageContaining("Cannot find the configuration")
                .hasMessageContaining("none.yaml");
        assertThatThrownBy(() -> BrokerConfigLoader.load(directory, Map.of(), List.of()))
                .isInstanceOf(ConfigException.class);
    }

    @Test
    void shouldAcceptAnEmptyFile() throws Exception {
        assertThat(BrokerConfigLoader.load(file("# nothing"), Map.of(), List.of())
                        .get(BrokerSettings.SHARDS))
                .isEqualTo(BrokerSettings.SHARDS.defaultValue());
    }

    @Test
    void shouldRefuseWhatDoesNotFitTogether() {
        assertRefused("listeners", "listeners=", "at least one");
        assertRefused("data.directories", "data.directories=", "at least one");
        assertRefused("data.directories", "data.directories=./data,data", "twice");
        assertRefused("listeners", "listeners=SSL://localhost:1,ssl://localhost:2", "two listeners are called SSL");
        assertRefused("advertised.listeners", "advertised.listeners=OUT://broker:9092", "no listener is called OUT");
        assertRefused("advertised.listeners", "advertised.listeners=PLAINTEXT://0.0.0.0:9092", "no host");
    }

    @Test
    void shouldRefuseAddressesThatAreNone() {
        assertRefused("listeners", "listeners=localhost", "must be of the form");
        assertRefused("listeners", "listeners=localhost:65536", "from 0 to 65535");
        assertRefused("listeners", "listeners=PLAINTEXT://local/host:1", "must be of the form");
        assertRefused("admin.listener", "admin.listener=9644", "must be of the form");
    }

    private void assertFileRefused(String words, String... lines) throws IOException {
        Path file = file(lines);
        assertThatThrownBy(() -> BrokerConfigLoader.load(file, Map.of(), List.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(words);
    }

    private static void assertRefused(String where, String assignment, String words) {
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), List.of(assignment)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(where)
                .hasMessageContaining(words);
    }

    private Path file(String... lines) throws IOException {
        return Files.write(directory.resolve("journalq.yaml"), List.of(lines));
    }

    @Test
    void shouldRefuseAListenerWhenItOffersNoMechanism() throws ConfigException {
        List<String> onlyPlain = List.of("listeners=SASL_PLAINTEXT://localhost:1", "sasl.enabled.mechanisms=PLAIN");
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), onlyPlain))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("sasl.enabled.mechanisms")
                .hasMessageContaining("SASL_PLAINTEXT is not encrypted");
        assertRefused("sasl.enabled.mechanisms", "sasl.enabled.mechanisms=GSSAPI", "must be one of SCRAM-SHA-256");
        assertRefused("sasl.enabled.mechanisms", "sasl.enabled.mechanisms=", "must name at least one");

        BrokerConfig both = BrokerConfigLoader.load(
                null,
                Map.of(),
                List.of("listeners=SASL_PLAINTEXT://localhost:1", "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512"));
        assertThat(both.saslMechanisms(both.listeners().get(0))).containsExactly("SCRAM-SHA-512");
    }

    @Test
    void shouldNameTheMissingFileWhenAListenerIsEncrypted() {
        List<String> settings = new ArrayList<>(List.of("listeners=SSL://localhost:1"));
        for (String next : List.of(
                "ssl.keystore.location",
                "ssl.keystore.password.file",
                "ssl.truststore.location",
                "ssl.truststore.password.file")) {
            assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), settings))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageStartingWith(next + ": must be set, because ");
            settings.add(next + "=/tmp/file");
            settings.add("ssl.client.auth=required");
        }
    }

    @Test
    void shouldRefuseLoginsWhenTheGatewayOrAClusterCannotAskForThem() {
        assertThatThrownBy(() -> BrokerConfigLoader.load(
                        null, Map.of(), List.of("gateway.listener=SASL_PLAINTEXT://localhost:8082")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("gateway.listener")
                .hasMessageContaining("SASL_SSL");
        assertRefused("admin.listener", "admin.listener=SASL_SSL://localhost:9644", "HTTP Basic");
        List<String> inCluster = List.of(
                "listeners=PLAINTEXT://localhost:1,SASL_PLAINTEXT://localhost:2", "quorum.listener=localhost:3");
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), inCluster))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("SASL_PLAINTEXT://localhost:2")
                .hasMessageContaining("quorum.listener");
    }

    @Test
    void shouldUseTheSettingsOfAListenerInsteadOfThoseOfAllWhenItHasSome() throws ConfigException {
        // given
        BrokerConfig config = BrokerConfigLoader.load(
                null,
                Map.of("JOURNALQ_LISTENER_NAME_INSIDE_SSL_CLIENT_AUTH", "required"),
                List.of(
                        "listeners=INSIDE://localhost:1,OUTSIDE://localhost:2",
                        "listener.security.protocol.map=INSIDE:SSL,OUTSIDE:SASL_SSL",
                        "ssl.keystore.type=PEM",
                        "ssl.keystore.location=all.pem",
                        "listener.name.inside.ssl.keystore.location=inside.pem",
                        "listener.name.inside.ssl.truststore.location=peers.pem",
                        "listener.name.inside.ssl.truststore.type=PEM",
                        "listener.name.outside.sasl.enabled.mechanisms=PLAIN"));

        // then
        assertThat(config.get(ListenerSettings.SSL_CLIENT_AUTH, "INSIDE")).isEqualTo("required");
        assertThat(config.get(ListenerSettings.SSL_CLIENT_AUTH, "OUTSIDE")).isEqualTo("none");
        assertThat(config.file(ListenerSettings.SSL_KEYSTORE_LOCATION, "INSIDE"))
                .hasToString("inside.pem");
        assertThat(config.file(ListenerSettings.SSL_KEYSTORE_LOCATION, "OUTSIDE"))
                .hasToString("all.pem");
        assertThat(config.files(ListenerSettings.SSL_KEYSTORE_LOCATION)).hasSize(2);
        assertThat(config.saslMechanisms(config.listeners().get(1))).containsExactly("PLAIN");
    }

    @Test
    void shouldRefuseASettingOfOneListenerWhenItCannotHaveIt() {
        assertRefused("listener.name.a.b", "listener.name.a.b=1", "must be listener.name.<name>. and one of ssl.");
        assertRefused("listener.name.ssl", "listener.name.ssl=1", "must be listener.name.<name>.");
        assertRefused(
                "listener.name.x.ssl.client.auth", "listener.name.x.ssl.client.auth=maybe", "must be one of none");
        assertRefused("listener.name.x", "listener.name.x.ssl.client.auth=none", "no listener is called X");
        assertThatThrownBy(() -> BrokerConfigLoader.load(
                        null, Map.of(), List.of("listener.name.plaintext.ssl.keystore.password=secret-42")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("ssl.keystore.password.file")
                .hasMessageNotContaining("secret-42");
    }

    @Test
    void shouldRefuseEncryptionBetweenBrokersWhenTheyPresentNoCertificates() {
        List<String> cluster = List.of(
                "listeners=SSL://localhost:1",
                "quorum.listener=SSL://localhost:3",
                "ssl.keystore.type=PEM",
                "ssl.keystore.location=all.pem");

        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), cluster))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("listener.name.ssl.ssl.client.auth=required");
    }

    @Test
    void shouldAdvertiseAnotherAddressOfTheQuorumWhenItsNameIsAdvertised() throws ConfigException {
        List<String> cluster = List.of(
                "listeners=PLAINTEXT://0.0.0.0:1",
                "quorum.listener=QUORUM://0.0.0.0:3",
                "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,QUORUM:PLAINTEXT",
                "advertised.listeners=PLAINTEXT://broker-1:1,QUORUM://broker-1:4");

        BrokerConfig config = BrokerConfigLoader.load(null, Map.of(), cluster);

        assertThat(config.quorumListener())
                .hasValueSatisfying(listener -> assertThat(listener.address()).isEqualTo("0.0.0.0:3"));
        assertThat(config.advertisedQuorumListener())
                .hasValueSatisfying(listener -> assertThat(listener.address()).isEqualTo("broker-1:4"));
    }

    @Test
    void shouldAdvertiseTheAddressOfTheQuorumWhenItsNameIsThatOfAListenerForClients() throws ConfigException {
        BrokerConfig config = BrokerConfigLoader.load(
                null,
                Map.of(),
                List.of(
                        "listeners=PLAINTEXT://localhost:1",
                        "quorum.listener=localhost:3",
                        "advertised.listeners=PLAINTEXT://broker-1:1"));

        assertThat(config.advertisedQuorumListener())
                .hasValueSatisfying(listener -> assertThat(listener.address()).isEqualTo("localhost:3"));
    }

    @Test
    void shouldRefuseAQuorumOnAllInterfacesWhenNoAddressIsAdvertised() {
        assertRefused("quorum.listener", "quorum.listener=0.0.0.0:3", "set advertised.listeners for that name");
        assertRefused("quorum.listener", "quorum.listener=localhost:0", "must have a port");
    }

    @Test
    void shouldRefuseHeartbeatsThatAreNotMoreFrequentThanTheSessionTimeout() {
        assertThatThrownBy(() -> BrokerConfigLoader.load(
                        null,
                        Map.of(),
                        List.of(
                                "group.consumer.heartbeat.interval.ms=45000",
                                "group.consumer.session.timeout.ms=45000")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("group.consumer.heartbeat.interval.ms: 45000 must be less than"
                        + " group.consumer.session.timeout.ms (45000)");
    }

    @Test
    void shouldRefuseAListenerWhenItsProtocolIsUnknown() {
        assertRefused(
                "listener.security.protocol.map", "listeners=INTERNAL://localhost:1", "add INTERNAL:PLAINTEXT or");
        assertRefused(
                "listener.security.protocol.map",
                "listener.security.protocol.map=SSL:SSL",
                "add PLAINTEXT:PLAINTEXT or");
        assertRefused("listener.security.protocol.map", "listener.security.protocol.map=A:TLS", "'TLS' is not");
        assertRefused("listener.security.protocol.map", "listener.security.protocol.map=A", "NAME:PROTOCOL");
        assertThatThrownBy(() -> BrokerConfigLoader.load(
                        null,
                        Map.of(),
                        List.of("listeners=A://localhost:1", "listener.security.protocol.map=A:PLAINTEXT,a:SSL")))
                .hasMessage("listener.security.protocol.map: A has two protocols");
    }

    @Test
    void shouldBeReachableFromThisMachineOnlyUnlessAnotherAddressIsSet() throws ConfigException {
        assertThat(BrokerConfig.defaults().listeners())
                .containsExactly(new ListenerAddress("PLAINTEXT", "localhost", 9092));
        for (String here : List.of("localhost:1", "127.0.0.1:1", "[::1]:1")) {
            assertThat(ListenerAddress.parse(here).isOpen()).as(here).isFalse();
        }
        for (String open : List.of(":1", "0.0.0.0:1", "[::]:1", "192.0.2.1:1", "no-such-host.invalid:1")) {
            assertThat(ListenerAddress.parse(open).isOpen()).as(open).isTrue();
        }
    }
}
