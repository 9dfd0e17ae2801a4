package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.TlsFailedException;
import io.journalq.client.internal.network.BlockingConnection;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.client.internal.network.TlsClient;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.security.TlsConfig;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.broker.TestKeys;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The client at encrypted listeners of the real broker. */
@Timeout(120)
class ClientTlsTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int VALUE_SIZE_BYTES = 64 * 1024;
    private static final char[] PASSWORD = TestKeys.PASSWORD.toCharArray();

    /** A wrong configuration is reported within this time, and not when the call times out. */
    private static final Duration AT_ONCE = Duration.ofSeconds(15);

    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(40);

    @TempDir
    private Path directory;

    private TestKeys keys;
    private TestBroker broker;

    private enum Format {
        PEM,
        PEM_IN_TWO_FILES,
        PKCS12
    }

    @BeforeEach
    void makeKeys() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        keys.write("ada", keys.sign("CN=ada", Algorithm.ecp256));
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SSL://127.0.0.1:0,PLAINTEXT://127.0.0.1:0")
                .with("ssl.keystore.type", "PEM")
                .with("ssl.keystore.location", file("broker.pem").toString())
                .with("ssl.truststore.type", "PEM")
                .with("ssl.truststore.location", file("authority.pem").toString());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadBackWhatItWroteWhenBothSidesPresentCertificates(Format format) throws Exception {
        // given
        broker.with("ssl.client.auth", "required").start();
        TlsConfig.Builder builder = TlsConfig.builder();
        switch (format) {
            case PEM -> builder.trustPem(file("authority.pem")).keyPem(file("ada.pem"));
            case PEM_IN_TWO_FILES -> {
                X509Bundle ada = keys.signRsa("CN=ada");
                keys.replace("ada.crt", ada.getCertificatePathPEM());
                keys.replace("ada.key", ada.getPrivateKeyPEM());
                builder.trustPem(file("authority.pem")).keyPem(file("ada.crt"), file("ada.key"), null);
            }
            case PKCS12 -> builder.trustPkcs12(file("authority.p12"), PASSWORD).keyPkcs12(file("ada.p12"), PASSWORD);
        }
        TlsConfig tls = builder.build();
        createTopic(tls);

        // when single records and batches are written, 20 MiB in all
        try (Producer producer =
                Producer.builder().bootstrapServers(broker.bootstrap()).tls(tls).build()) {
            for (int i = 0; i < 20; i++) {
                assertThat(producer.send(record(i)).offset()).isEqualTo(i);
            }
            List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 20; i < 320; i++) {
                sent.add(producer.sendAsync(record(i)));
            }
            for (CompletableFuture<RecordMetadata> each : sent) {
                each.get(60, TimeUnit.SECONDS);
            }
            assertThat(producer.metrics().directSends()).isPositive();
        }

        // then
        try (Consumer consumer =
                Consumer.builder().bootstrapServers(broker.bootstrap()).tls(tls).build()) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            int next = 0;
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (next < 320 && System.nanoTime() < deadlineNanos) {
                for (ConsumerRecord record : consumer.poll(Duration.ofMillis(200))) {
                    assertThat(record.value()).hasSize(VALUE_SIZE_BYTES);
                    assertThat(ByteBuffer.wrap(record.value()).getInt()).isEqualTo(next);
                    next++;
                }
            }
            assertThat(next).isEqualTo(320);
        }
    }

    @Test
    void shouldSayThatTheAuthorityIsNotTrustedWhenItIsAnother() throws Exception {
        broker.start();
        TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");

        assertFailsAtOnce(
                TlsConfig.builder().trustPem(others.directory().resolve("authority.pem")),
                "127.0.0.1",
                broker.port(),
                "not signed by a trusted authority");
        assertFailsAtOnce(TlsConfig.builder(), "127.0.0.1", broker.port(), "not signed by a trusted authority");
    }

    @Test
    void shouldVerifyTheHostNameUnlessItIsSwitchedOff() throws Exception {
        // given
        keys.write(
                "broker",
                keys.sign(new CertificateBuilder().subject("CN=localhost").addSanDnsName("broker1.example.com")));
        broker.start();

        // then
        assertFailsAtOnce(trusting(), "127.0.0.1", broker.port(), "does not name the host 127.0.0.1");
        assertFailsAtOnce(trusting(), "localhost", broker.port(), "does not name the host localhost");
        createTopic(trusting().verifyHostName(false).build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "localhost"})
    void shouldVerifyTheHostNameWhenTheCallerItselfConnects(String host) throws Exception {
        // given
        keys.write(
                "broker",
                keys.sign(new CertificateBuilder().subject("CN=broker").addSanDnsName("localhost")));
        broker.start();

        // when
        BlockingConnection connection = connectionTo(host, broker.port());
        try {
            if (host.equals("localhost")) {
                connection.open();
                // then
                assertThat(connection.version(ApiKey.PRODUCE, (short) 9)).isEqualTo((short) 9);
            } else {
                assertThatThrownBy(connection::open).isInstanceOf(SSLException.class);
            }
        } finally {
            connection.close();
            connection.release();
        }
    }

    @Test
    void shouldSayThatTheBrokerClosedTheConnectionWhenItDoesSoInTheHandshake() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread accepting = new Thread(() -> handshakes(server));
            accepting.setDaemon(true);
            accepting.start();

            BlockingConnection connection = connectionTo("127.0.0.1", server.getLocalPort());
            try {
                assertThatThrownBy(connection::open)
                        .isInstanceOf(EOFException.class)
                        .hasMessageContaining("before the handshake of TLS was over");
            } finally {
                connection.close();
                connection.release();
            }
        }
    }

    @Test
    void shouldSayThatTheCertificateOfTheBrokerHasExpired() throws Exception {
        X509Bundle expired = keys.sign(new CertificateBuilder()
                .subject("CN=old")
                .addSanIpAddress("127.0.0.1")
                .notBefore(Instant.now().minus(2, ChronoUnit.DAYS))
                .notAfter(Instant.now().minus(1, ChronoUnit.DAYS)));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(expired.toKeyManagerFactory().getKeyManagers(), null, null);
        try (SSLServerSocket server = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread accepting = new Thread(() -> handshakes(server));
            accepting.setDaemon(true);
            accepting.start();

            assertFailsAtOnce(trusting(), "127.0.0.1", server.getLocalPort(), "has expired");
        }
    }

    private static void handshakes(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                socket.setSoTimeout(10_000);
                socket.getInputStream().read();
            } catch (IOException refusedByTheClient) {
                // the next one
            }
        }
    }

    @Test
    void shouldSayThatTheBrokerRequiresAnotherCertificateWhenItIsMissingOrOfAnotherAuthority() throws Exception {
        broker.with("ssl.client.auth", "required").start();
        TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");
        others.write("eve", others.sign("CN=eve", Algorithm.ecp256));

        assertFailsAtOnce(
                trusting(), "127.0.0.1", broker.port(), "rejected the certificate of this client, or requires");
        assertFailsAtOnce(
                trusting().keyPem(others.directory().resolve("eve.pem")),
                "127.0.0.1",
                broker.port(),
                "rejected the certificate of this client, or requires");
    }

    @Test
    void shouldNameTheProtocolWhenOnlyOneSideEncrypts() throws Exception {
        broker.start();
        int plainPort = broker.listeners().get(1).port();

        try (Admin admin = Admin.builder()
                .bootstrapServers("127.0.0.1:" + plainPort)
                .tls(trusting().build())
                .callTimeout(Duration.ofSeconds(2))
                .build()) {
            assertThatThrownBy(admin::describeCluster)
                    .isInstanceOf(ConnectionFailedException.class)
                    .hasMessageContaining("check that the listener has the security protocol SSL");
        }
        try (Admin admin = Admin.builder()
                .bootstrapServers("127.0.0.1:" + broker.port())
                .callTimeout(Duration.ofSeconds(2))
                .build()) {
            assertThatThrownBy(admin::describeCluster)
                    .isInstanceOf(ConnectionFailedException.class)
                    .hasMessageContaining("TLS");
        }
    }

    @Test
    void shouldRetryWhenTlsHasWorkedAndTheBrokerReplacesItsCertificate() throws Exception {
        // given
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        broker.with("listeners", "SSL://127.0.0.1:" + port).start();
        createTopic(trusting().build());
        try (Producer producer = Producer.builder()
                .bootstrapServers("127.0.0.1:" + port)
                .tls(trusting().build())
                .build()) {
            producer.send(record(0));

            // when the broker restarts with a certificate that the client does not trust, and then with one that it
            // does
            broker.stop();
            TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");
            String trusted = Files.readString(file("broker.pem"));
            X509Bundle untrusted = others.sign("CN=broker", Algorithm.ecp256);
            keys.replace("broker.pem", untrusted.getPrivateKeyPEM() + untrusted.getCertificatePathPEM());
            broker.start();
            CompletableFuture<RecordMetadata> sent = producer.sendAsync(record(1));
            Thread.sleep(500);
            assertThat(sent).isNotDone();
            broker.stop();
            keys.replace("broker.pem", trusted);
            broker.start();

            // then
            assertThat(sent.get(30, TimeUnit.SECONDS).offset()).isEqualTo(1);
        }
    }

    @Test
    void shouldNameTheFileWhenItCannotBeUsed() throws Exception {
        Path missing = directory.resolve("missing.pem");
        assertThatThrownBy(() -> TlsConfig.builder().trustPem(missing))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot find " + missing);
        assertThatThrownBy(() -> TlsConfig.builder().keyPem(file("authority.pem")))
                .hasMessageContaining(file("authority.pem") + " as PEM: there is no private key");
        assertThatThrownBy(() -> TlsConfig.builder().keyPkcs12(file("ada.p12"), "wrong".toCharArray()))
                .hasMessageContaining(file("ada.p12") + " as PKCS12")
                .hasMessageNotContaining("wrong");
        assertThat(TlsConfig.builder()
                        .keyPkcs12(file("ada.p12"), PASSWORD)
                        .build()
                        .toString())
                .isEqualTo("TlsConfig(with a certificate)");
    }

    private void assertFailsAtOnce(TlsConfig.Builder tls, String host, int port, String reason) {
        long startNanos = System.nanoTime();
        try (Admin admin = Admin.builder()
                .bootstrapServers(host + ":" + port)
                .tls(tls.build())
                .callTimeout(CALL_TIMEOUT)
                .build()) {
            assertThatThrownBy(admin::describeCluster)
                    .isInstanceOf(TlsFailedException.class)
                    .hasMessageStartingWith(host + ":" + port)
                    .hasMessageContaining(reason);
        }
        try (Producer producer = Producer.builder()
                .bootstrapServers(host + ":" + port)
                .tls(tls.build())
                .callTimeout(CALL_TIMEOUT)
                .build()) {
            assertThatThrownBy(() -> producer.send(record(0)))
                    .isInstanceOf(JournalQException.class)
                    .hasMessageContaining(reason);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(AT_ONCE);
    }

    private BlockingConnection connectionTo(String host, int port) throws IOException {
        HostAndPort address = new HostAndPort(host, port);
        ClientConfig.Backoff backoff = new ClientConfig.Backoff(10, 10);
        ClientConfig config = new ClientConfig(
                Producer.class,
                List.of(address),
                new TlsClient(trusting().build()),
                null,
                "test",
                10_000,
                10_000,
                10_000,
                10_000,
                backoff,
                backoff);
        return new BlockingConnection(address, config);
    }

    private TlsConfig.Builder trusting() {
        return TlsConfig.builder().trustPem(file("authority.pem"));
    }

    private Path file(String name) {
        return keys.directory().resolve(name);
    }

    private void createTopic(TlsConfig tls) {
        try (Admin admin =
                Admin.builder().bootstrapServers(broker.bootstrap()).tls(tls).build()) {
            admin.createTopic(NewTopic.of("t", 1));
        }
    }

    private static ProducerRecord record(int number) {
        byte[] value = ByteBuffer.allocate(VALUE_SIZE_BYTES).putInt(number).array();
        return ProducerRecord.of("t", value);
    }
}
