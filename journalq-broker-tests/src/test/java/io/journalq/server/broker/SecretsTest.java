package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** A secret appears in no error, log line, page, response and file of the data directory. */
class SecretsTest {
    private static final String CANARY = TestKeys.PASSWORD;
    private static final ConfigResource BROKER = new ConfigResource(ConfigResource.Type.BROKER, "0");

    @TempDir
    private Path directory;

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.journalq");
    private final Lines lines = new Lines();

    private static final class Lines extends AppenderBase<ILoggingEvent> {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        protected void append(ILoggingEvent event) {
            String stack =
                    event.getThrowableProxy() == null ? "" : ThrowableProxyUtil.asString(event.getThrowableProxy());
            seen.add(event.getFormattedMessage() + stack);
        }
    }

    @BeforeEach
    void listen() {
        lines.start();
        logger.setLevel(Level.TRACE);
        logger.setAdditive(false);
        logger.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(lines);
        logger.setAdditive(true);
        logger.setLevel(null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ssl.keystore.password", "ssl.key.password", "ssl.truststore.password", "ssl.keystore.key"})
    void shouldRefuseASecretWithoutShowingItWhenItIsInTheConfiguration(String name) throws Exception {
        Path file = Files.writeString(directory.resolve("journalq.yaml"), name + ": " + CANARY + "\n");
        String variable = "JOURNALQ_" + name.toUpperCase(java.util.Locale.ROOT).replace('.', '_');

        for (Refused refused : List.<Refused>of(
                () -> BrokerConfigLoader.load(null, Map.of(), List.of(name + "=" + CANARY)),
                () -> BrokerConfigLoader.load(null, Map.of(variable, CANARY), List.of()),
                () -> BrokerConfigLoader.load(file, Map.of(), List.of()))) {
            assertThatThrownBy(refused::load)
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining(name)
                    .hasMessageContaining("a secret must not be in the configuration; write it to a")
                    .hasMessageNotContaining(CANARY);
        }
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), List.of(name + " " + CANARY)))
                .hasMessageNotContaining(CANARY);
    }

    private interface Refused {
        void load() throws ConfigException;
    }

    @Test
    void shouldShowNoSecretAnywhereWhenABrokerUsesOne() throws Exception {
        // given
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        Path data = directory.resolve("data");
        try (TestBroker broker = new TestBroker(data)
                        .with("listeners", "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0")
                        .with("admin.listener", "127.0.0.1:0")
                        .with(
                                "ssl.keystore.location",
                                keys.directory().resolve("broker.p12").toString())
                        .with("ssl.keystore.password.file", keys.passwordFile().toString())
                        .start();
                Admin admin = broker.admin()) {
            // when
            Config config = admin.describeConfigs(
                            List.of(BROKER),
                            new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true))
                    .all()
                    .get(20, TimeUnit.SECONDS)
                    .get(BROKER);
            AlterConfigOp set =
                    new AlterConfigOp(new ConfigEntry("ssl.keystore.password", CANARY), AlterConfigOp.OpType.SET);
            var altered =
                    admin.incrementalAlterConfigs(Map.of(BROKER, List.of(set))).all();

            // then
            ConfigEntry password = config.get("ssl.keystore.password");
            assertThat(password.isSensitive()).isTrue();
            assertThat(password.value()).isNull();
            assertThat(password.type()).isEqualTo(ConfigEntry.ConfigType.PASSWORD);
            assertThat(password.synonyms())
                    .allSatisfy(synonym -> assertThat(synonym.value()).isNull());
            assertThat(config.get("ssl.client.auth").isSensitive()).isFalse();
            assertThat(config.toString()).doesNotContain(CANARY);
            assertThatThrownBy(() -> altered.get(20, TimeUnit.SECONDS)).hasMessageNotContaining(CANARY);
            for (String page : List.of("/metrics", "/health")) {
                assertThat(broker.page(page).body()).as(page).doesNotContain(CANARY);
            }
        }
        assertThat(lines.seen).isNotEmpty().noneMatch(line -> line.contains(CANARY));
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(CANARY);
            }
        }
    }

    @Test
    void shouldShowNoPasswordAnywhereWhenUsersLogIn() throws Exception {
        // given
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        Path data = directory.resolve("data");
        try (TestBroker broker = new TestBroker(data)
                .with("listeners", "SASL_SSL://127.0.0.1:0")
                .with("admin.listener", "127.0.0.1:0")
                .with("sasl.enabled.mechanisms", "SCRAM-SHA-256,PLAIN")
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString())) {
            new OfflineUsers(broker.config())
                    .add("ada", CANARY.getBytes(StandardCharsets.UTF_8), List.of(ScramMechanism.SCRAM_SHA_256));
            broker.start();

            // when it logs in, with its password, with a wrong one, and with the password instead of the name
            for (String mechanism : List.of("SCRAM-SHA-256", "PLAIN")) {
                for (String[] login : new String[][] {{"ada", CANARY}, {"ada", CANARY + "-wrong"}, {CANARY, CANARY}}) {
                    Map<String, Object> client = new TreeMap<>(keys.client());
                    client.putAll(SaslClient.settings(mechanism, login[0], login[1]));
                    client.put("security.protocol", "SASL_SSL");
                    client.put("bootstrap.servers", broker.bootstrap());
                    try (Admin admin = Admin.create(client)) {
                        Config config = admin.describeConfigs(List.of(BROKER))
                                .all()
                                .get(20, TimeUnit.SECONDS)
                                .get(BROKER);
                        assertThat(config.toString()).doesNotContain(CANARY);
                        assertThat(login[1]).isEqualTo(CANARY);
                    } catch (ExecutionException refused) {
                        assertThat(refused).hasMessageNotContaining(CANARY);
                    }
                }
            }

            // then
            for (String page : List.of("/metrics", "/health")) {
                assertThat(broker.page(page).body()).as(page).doesNotContain(CANARY);
            }
            assertThat(broker.page("/metrics").body())
                    .contains("journalq_authentication_failures_total{reason=\"credentials\"}");
        }
        assertThat(lines.seen).isNotEmpty().noneMatch(line -> line.contains(CANARY));
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(CANARY);
            }
        }
    }
}
