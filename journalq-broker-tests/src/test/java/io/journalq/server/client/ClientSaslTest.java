package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.AuthenticationFailedException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.broker.TestKeys;
import io.journalq.server.broker.TestUsers;
import io.journalq.server.network.AuthenticationFailure;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client at listeners of the real broker that require a login. */
@Timeout(120)
class ClientSaslTest {
    private static final String PASSWORD = "Käfer, =2C 42";
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    /** A wrong configuration is reported within this time, and not when the call times out. */
    @TempDir
    private Path directory;

    private TestBroker broker;
    private TlsConfig tls;

    @BeforeEach
    void prepare() throws Exception {
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        tls = TlsConfig.builder()
                .trustPem(keys.directory().resolve("authority.pem"))
                .build();
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_SSL://127.0.0.1:0")
                .with("sasl.enabled.mechanisms", "SCRAM-SHA-256,PLAIN,SCRAM-SHA-512")
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString());
        TestUsers.add(broker, "ada", PASSWORD, ScramMechanism.values());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"})
    void shouldReadBackWhatItWroteWhenItLogsIn(String mechanism) throws Exception {
        broker.start();
        SaslConfig sasl = config(mechanism, "ada", PASSWORD);
        createTopic(sasl);

        produce(sasl, 100);

        assertThat(readAll(sasl, 100)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"})
    void shouldReportAWrongPasswordAtOnceAndWithoutShowingIt(String mechanism) throws Exception {
        broker.start();

        for (int client = 1; client <= 4; client++) {
            assertThatThrownBy(() -> createTopic(config(mechanism, "ada", "canary-77aa")))
                    .isInstanceOf(AuthenticationFailedException.class)
                    .hasMessageContaining("user ada")
                    .hasMessageNotContaining("canary-77aa");

            assertThat(broker.network().authenticationFailures(AuthenticationFailure.CREDENTIALS))
                    .as("each client tries once")
                    .isEqualTo(client);
        }
    }

    @Test
    void shouldNameTheMechanismsWhenTheListenerDoesNotOfferTheOneOfTheClient() throws Exception {
        broker.with("sasl.enabled.mechanisms", "SCRAM-SHA-512").start();

        assertThatThrownBy(() -> createTopic(config("SCRAM-SHA-256", "ada", PASSWORD)))
                .isInstanceOf(AuthenticationFailedException.class)
                .hasMessageContaining("does not offer SCRAM-SHA-256 on this listener, but SCRAM-SHA-512");
    }

    @Test
    void shouldRefuseToSendThePasswordWhenConnectionsAreNotEncrypted() {
        assertThatThrownBy(() ->
                        Admin.builder().sasl(config("PLAIN", "ada", PASSWORD)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PLAIN sends the password")
                .hasMessageNotContaining(PASSWORD);
        assertThat(config("PLAIN", "ada", PASSWORD)).hasToString("SaslConfig(PLAIN, user=ada)");
    }

    @Test
    void shouldLogInAgainBeforeTheSessionEnds() throws Exception {
        // given a session that leaves 1.5 s for the next login: the client begins it after 85 % of the session
        broker.with("connections.max.reauth.ms", "10000").start();
        SaslConfig sasl = config("SCRAM-SHA-256", "ada", PASSWORD);
        createTopic(sasl);
        try (Producer producer = Producer.builder()
                .bootstrapServers(broker.bootstrap())
                .tls(tls)
                .sasl(sasl)
                .build()) {
            long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(11);
            long connections = 0;
            while (System.nanoTime() < endNanos) {
                producer.send(ProducerRecord.of("t", new byte[10]));
                boolean isDirect = producer.metrics().directSends() > 0;
                connections = connections == 0 && isDirect ? acceptedConnections() : connections;
                Thread.sleep(20);
            }

            // Neither the event loop nor the caller, which sends all records in the end, has connected again.
            assertThat(acceptedConnections()).isEqualTo(connections);
            assertThat(producer.metrics().retriedBatches()).isZero();
        }
    }

    private long acceptedConnections() {
        return broker.acceptedConnections();
    }

    private static SaslConfig config(String mechanism, String user, String password) {
        return switch (mechanism) {
            case "SCRAM-SHA-256" -> SaslConfig.scramSha256(user, password.toCharArray());
            case "SCRAM-SHA-512" -> SaslConfig.scramSha512(user, password.toCharArray());
            default -> SaslConfig.plain(user, password.toCharArray());
        };
    }

    private void createTopic(SaslConfig sasl) {
        try (Admin admin = Admin.builder()
                .bootstrapServers(broker.bootstrap())
                .tls(tls)
                .sasl(sasl)
                .build()) {
            admin.createTopic(NewTopic.of("t", 1));
        }
    }

    private void produce(SaslConfig sasl, int count) {
        try (Producer producer = Producer.builder()
                .bootstrapServers(broker.bootstrap())
                .tls(tls)
                .sasl(sasl)
                .build()) {
            for (int i = 0; i < count; i++) {
                assertThat(producer.send(ProducerRecord.of("t", new byte[100])).offset())
                        .isEqualTo(i);
            }
            assertThat(producer.metrics().directSends()).isPositive();
        }
    }

    private int readAll(SaslConfig sasl, int count) {
        int read = 0;
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .tls(tls)
                .sasl(sasl)
                .build()) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (read < count && System.nanoTime() < deadlineNanos) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        return read;
    }
}
