package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.network.AuthenticationFailure;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.UnacceptableCredentialException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Listeners of the security protocols SASL_PLAINTEXT and SASL_SSL, with Kafka's clients. */
class SaslTest {
    private static final String PASSWORD = "Käfer, =2C \"42";
    private static final String JAAS_PASSWORD = "Käfer, =2C \\\"42";
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    @TempDir
    private Path directory;

    private TestKeys keys;
    private TestBroker broker;

    @BeforeEach
    void prepare() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0")
                .with("sasl.enabled.mechanisms", "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.p12").toString())
                .with("ssl.keystore.password.file", keys.passwordFile().toString());
        addUser("ada", ScramMechanism.values());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void addUser(String name, ScramMechanism... mechanisms) throws Exception {
        TestUsers.add(broker, name, PASSWORD, mechanisms);
    }

    @ParameterizedTest
    @CsvSource({
        "SASL_PLAINTEXT, SCRAM-SHA-256",
        "SASL_PLAINTEXT, SCRAM-SHA-512",
        "SASL_SSL, SCRAM-SHA-256",
        "SASL_SSL, SCRAM-SHA-512",
        "SASL_SSL, PLAIN"
    })
    void shouldServeAUserWhenThePasswordIsRight(String protocol, String mechanism) throws Exception {
        broker.start();
        Map<String, Object> ada = client(protocol, mechanism, "ada", JAAS_PASSWORD);

        createTopic(ada);
        produce(ada, 100);

        assertThat(readAll(ada, 100)).isEqualTo(100);
        assertThat(broker.network().authentications()).isPositive();
    }

    @ParameterizedTest
    @CsvSource({
        "SASL_PLAINTEXT, SCRAM-SHA-256",
        "SASL_PLAINTEXT, SCRAM-SHA-512",
        "SASL_SSL, SCRAM-SHA-512",
        "SASL_SSL, PLAIN"
    })
    void shouldRefuseAWrongPasswordAndAnUnknownUserInTheSameWay(String protocol, String mechanism) throws Exception {
        broker.start();

        try (AuditLines audit = new AuditLines()) {
            String wrongPassword = failureOf(client(protocol, mechanism, "ada", "w-canary"));
            String unknownUser = failureOf(client(protocol, mechanism, "eve", JAAS_PASSWORD));

            assertThat(withoutEvent(wrongPassword))
                    .isEqualTo(withoutEvent(unknownUser))
                    .contains("invalid credentials", mechanism);
            assertThat(audit.lineOf(wrongPassword))
                    .contains("\"principal\":\"User:ada\"", "\"host\":\"127.0.0.1\"")
                    .contains("\"mechanism\":\"" + mechanism + "\",\"reason\":\"the password is wrong\"")
                    .doesNotContain("canary");
            assertThat(audit.lineOf(unknownUser))
                    .contains("\"principal\":\"User:eve\"", "there is no such user")
                    .doesNotContain("fer, =2C");
        }
        assertThat(broker.network().authenticationFailures(AuthenticationFailure.CREDENTIALS))
                .isGreaterThanOrEqualTo(2);
        assertThat(broker.network().authentications()).isZero();
    }

    @Test
    void shouldOfferPlainOnlyWhereTheConnectionIsEncrypted() throws Exception {
        broker.start();

        assertThatThrownBy(() -> describe(client("SASL_PLAINTEXT", "PLAIN", "ada", JAAS_PASSWORD)))
                .hasRootCauseInstanceOf(UnsupportedSaslMechanismException.class);
        assertThat(broker.network().authenticationFailures(AuthenticationFailure.PROTOCOL))
                .isPositive();
    }

    @Test
    void shouldCheckPlainAgainstTheOnlyKeysThatAUserHas() throws Exception {
        addUser("bob", ScramMechanism.SCRAM_SHA_512);
        broker.start();

        describe(client("SASL_SSL", "PLAIN", "bob", JAAS_PASSWORD));
        assertThat(failureOf(client("SASL_SSL", "PLAIN", "bob", "wrong"))).contains("invalid credentials");
        assertThat(failureOf(client("SASL_SSL", "SCRAM-SHA-256", "bob", JAAS_PASSWORD)))
                .contains("invalid credentials");
    }

    @Test
    void shouldKeepUsersThatAClientCreatedAndForgetThoseItDeleted() throws Exception {
        broker.start();
        Map<String, Object> ada = client("SASL_PLAINTEXT", "SCRAM-SHA-256", "ada", JAAS_PASSWORD);
        try (Admin admin = Admin.create(ada)) {
            // when a user is created
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                            "bob",
                            new ScramCredentialInfo(org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_512, 4_096),
                            "builder")))
                    .all()
                    .get(20, TimeUnit.SECONDS);

            // then it is described, and can log in, also after a restart
            assertThat(admin.describeUserScramCredentials().all().get(20, TimeUnit.SECONDS))
                    .containsOnlyKeys("ada", "bob");
            assertThat(admin.describeUserScramCredentials(List.of("bob"))
                            .description("bob")
                            .get(20, TimeUnit.SECONDS)
                            .credentialInfos())
                    .singleElement()
                    .satisfies(info -> assertThat(info.iterations()).isEqualTo(4_096));
        }
        describe(client("SASL_PLAINTEXT", "SCRAM-SHA-512", "bob", "builder"));
        broker.stop();
        broker.start();
        Map<String, Object> bob = client("SASL_PLAINTEXT", "SCRAM-SHA-512", "bob", "builder");
        describe(bob);

        // when it is deleted, then it cannot
        try (Admin admin = Admin.create(client("SASL_PLAINTEXT", "SCRAM-SHA-256", "ada", JAAS_PASSWORD))) {
            admin.alterUserScramCredentials(List.of(new UserScramCredentialDeletion(
                            "bob", org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_512)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
        assertThat(failureOf(bob)).contains("invalid credentials");
    }

    @ParameterizedTest
    @ValueSource(ints = {4_095, 16_385})
    void shouldRefuseACredentialWhenItsIterationsAreOutsideTheBounds(int iterations) throws Exception {
        broker.start();
        try (Admin admin = Admin.create(client("SASL_PLAINTEXT", "SCRAM-SHA-256", "ada", JAAS_PASSWORD))) {
            var altered = admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                            "bob",
                            new ScramCredentialInfo(
                                    org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_256, iterations),
                            "builder")))
                    .all();

            assertThatThrownBy(() -> altered.get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(UnacceptableCredentialException.class);
        }
    }

    @Test
    void shouldApplyTheQuotaOfTheUserWhenItHasLoggedIn() throws Exception {
        broker.start();
        Map<String, Object> ada = client("SASL_PLAINTEXT", "SCRAM-SHA-256", "ada", JAAS_PASSWORD);
        createTopic(ada);
        try (Admin admin = Admin.create(ada)) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "ada")),
                            List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 100_000.0)))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }

        assertThat(produce(ada, 15)).isPositive();
    }

    @Test
    void shouldLogInAgainWhenSessionsEnd() throws Exception {
        broker.with("connections.max.reauth.ms", "2000");
        broker.start();
        Map<String, Object> ada = client("SASL_SSL", "SCRAM-SHA-256", "ada", JAAS_PASSWORD);
        createTopic(ada);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(ada)) {
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            long logins = broker.network().authentications();
            long accepted = 0;
            long acceptedAfterTheFirst = 0;
            while (broker.network().authentications() < logins + 4 && System.nanoTime() < deadlineNanos) {
                producer.send(new ProducerRecord<>("t", 0, null, new byte[10])).get(20, TimeUnit.SECONDS);
                acceptedAfterTheFirst = broker.network().acceptedConnections();
                accepted = accepted == 0 ? acceptedAfterTheFirst : accepted;
                Thread.sleep(20);
            }

            assertThat(acceptedAfterTheFirst).as("connections").isEqualTo(accepted);
            assertThat(broker.network().authentications()).isGreaterThanOrEqualTo(logins + 4);
        }
        assertThat(broker.network().authenticationFailures(AuthenticationFailure.EXPIRED))
                .isZero();
    }

    @Test
    void shouldServeOnlyALoginWhenTheSessionHasEnded() throws Exception {
        broker.with("connections.max.reauth.ms", "3000");
        broker.start();
        try (WireClient client = new WireClient(broker.port())) {
            SaslClient sasl = new SaslClient(client);
            sasl.choose("SCRAM-SHA-256");
            assertThat(sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD).sessionLifetimeMs())
                    .isEqualTo(3_000);
            metadata(client);

            // when it logs in again, then it is served as before
            Thread.sleep(3_200);
            assertThat(sasl.choose("SCRAM-SHA-256").errorCode()).isZero();
            assertThat(sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD).errorCode())
                    .isZero();
            metadata(client);

            // when it does not, then it is not, once the loop has noticed the time
            broker.await(() -> isRefused(client));
        }
    }

    private static boolean isRefused(WireClient client) {
        try {
            metadata(client);
            return false;
        } catch (IOException refused) {
            return true;
        }
    }

    @Test
    void shouldRefuseAnotherUserOrMechanismWhenAClientLogsInAgain() throws Exception {
        addUser("bob", ScramMechanism.values());
        broker.with("connections.max.reauth.ms", "60000");
        broker.start();
        for (String mechanism : List.of("SCRAM-SHA-256", "SCRAM-SHA-512")) {
            try (WireClient client = new WireClient(broker.port())) {
                SaslClient sasl = new SaslClient(client);
                sasl.choose("SCRAM-SHA-256");
                sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD);
                Thread.sleep(1_100);

                if (mechanism.equals("SCRAM-SHA-256")) {
                    sasl.choose(mechanism);
                    SaslAuthenticateResponse refused = sasl.scram(ScramMechanism.SCRAM_SHA_256, "bob", PASSWORD);
                    assertThat(ErrorCode.of(refused.errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
                } else {
                    assertThat(ErrorCode.of(sasl.choose(mechanism).errorCode()))
                            .isEqualTo(ErrorCode.ILLEGAL_SASL_STATE);
                }
                assertThatThrownBy(() -> metadata(client)).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void shouldNotSayWhetherThePasswordOfAnotherUserIsRightWhenAClientLogsInAgain() throws Exception {
        addUser("bob", ScramMechanism.values());
        broker.with("connections.max.reauth.ms", "60000");
        broker.start();
        Set<String> messages = new TreeSet<>();
        for (String password : List.of(PASSWORD, "another password")) {
            try (WireClient client = new WireClient(broker.port())) {
                SaslClient sasl = new SaslClient(client);
                sasl.choose("SCRAM-SHA-256");
                sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD);
                Thread.sleep(1_100);

                sasl.choose("SCRAM-SHA-256");
                SaslAuthenticateResponse refused = sasl.scram(ScramMechanism.SCRAM_SHA_256, "bob", password);

                assertThat(ErrorCode.of(refused.errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
                messages.add(withoutEvent(refused.errorMessage()));
            }
        }
        assertThat(messages).hasSize(1);
    }

    private static void metadata(WireClient client) throws IOException {
        client.call(MetadataResponse.class, new MetadataRequest().setTopics(List.of()), 12);
    }

    private Map<String, Object> client(String protocol, String mechanism, String user, String password) {
        Map<String, Object> settings = new TreeMap<>(keys.client());
        settings.putAll(SaslClient.settings(mechanism, user, password));
        settings.put("security.protocol", protocol);
        settings.put(
                "bootstrap.servers",
                broker.listeners().stream()
                        .filter(listener -> listener.name().equals(protocol))
                        .findFirst()
                        .map(ListenerAddress::address)
                        .orElseThrow());
        return settings;
    }

    private static void describe(Map<String, Object> client) throws Exception {
        try (Admin admin = Admin.create(client)) {
            admin.describeCluster().nodes().get(20, TimeUnit.SECONDS);
        }
    }

    private static String withoutEvent(String message) {
        return message.replace(AuditLines.eventIn(message), "");
    }

    private static String failureOf(Map<String, Object> client) {
        try {
            describe(client);
        } catch (ExecutionException refused) {
            assertThat(refused).hasCauseInstanceOf(SaslAuthenticationException.class);
            return refused.getCause().getMessage();
        } catch (Exception other) {
            throw new AssertionError(other);
        }
        throw new AssertionError("the client was not refused");
    }

    private static void createTopic(Map<String, Object> client) throws Exception {
        try (Admin admin = Admin.create(client)) {
            admin.createTopics(List.of(new NewTopic("t", 1, (short) 1))).all().get(20, TimeUnit.SECONDS);
        }
    }

    /** Produces records of 10,000 bytes. Returns the average time for which the client was throttled. */
    private double produce(Map<String, Object> client, int count) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(client)) {
            RecordMetadata last = null;
            for (int i = 0; i < count; i++) {
                last = producer.send(new ProducerRecord<>("t", 0, null, new byte[10_000]))
                        .get(20, TimeUnit.SECONDS);
            }
            assertThat(last.offset()).isEqualTo(count - 1);
            return producer.metrics().entrySet().stream()
                    .filter(metric -> metric.getKey().name().equals("produce-throttle-time-avg"))
                    .mapToDouble(metric -> (Double) metric.getValue().metricValue())
                    .filter(value -> !Double.isNaN(value))
                    .max()
                    .orElse(0);
        }
    }

    private int readAll(Map<String, Object> client, int count) {
        int read = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(client)) {
            consumer.assign(List.of(PARTITION));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (read < count && System.nanoTime() < deadlineNanos) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        return read;
    }
}
