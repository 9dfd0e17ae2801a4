package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.network.AuthenticationFailure;
import io.journalq.server.network.TlsFailure;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.ssl.OpenSsl;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Listeners of the security protocol SSL, with real clients and sockets. */
class TlsTest {
    private static final int MOST_ATTEMPTS = 20;
    private static final int VALUE_SIZE_BYTES = 64 * 1024;
    private static final int RECORDS = 1_024;
    private static final int FETCH_VERSION = 12;
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    @TempDir
    private Path directory;

    private TestKeys keys;
    private TestBroker broker;

    /** Which implementation of TLS the broker uses. */
    private enum Provider {
        BORINGSSL,
        /** A choice among the cipher suites of TLS 1.3 is possible only there. */
        JDK
    }

    @BeforeEach
    void makeKeys() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        keys.write("ada", keys.sign("CN=Ada,OU=Engines,O=Example", Algorithm.ecp256));
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SSL://127.0.0.1:0")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.p12").toString())
                .with("ssl.keystore.password.file", keys.passwordFile().toString())
                .with(
                        "ssl.truststore.location",
                        keys.directory().resolve("authority.p12").toString())
                .with("ssl.truststore.password.file", keys.passwordFile().toString());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadBackWhatWasWrittenWhenTheListenerIsEncrypted(Provider provider) throws Exception {
        assertReadsBack(provider, RECORDS / 8);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void shouldReadBack64MiBWhenTheListenerIsEncrypted(Provider provider) throws Exception {
        assertReadsBack(provider, RECORDS);
    }

    private void assertReadsBack(Provider provider, int records) throws Exception {
        // given
        start(provider);
        createTopic(keys.client());

        // when records are written, and read before and after a restart
        produce(keys.client(), records);
        List<ConsumerRecord<byte[], byte[]>> fresh = readAll(keys.client(), records);
        broker.stop();
        broker.start();
        List<ConsumerRecord<byte[], byte[]>> old = readAll(keys.client(), records);

        // then
        assertInOrder(fresh);
        assertInOrder(old);
        assertThat(broker.network().tlsHandshakes()).isPositive();
    }

    @Test
    void shouldCloseTheNewConnectionWhenAnAddressHasTooManyHalfHandshakes() throws Exception {
        // given half a client hello each
        broker.with("max.unauthenticated.connections.per.ip", "3").start();
        List<Socket> halves = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                Socket half = new Socket(InetAddress.getLoopbackAddress(), broker.port());
                halves.add(half);
                half.getOutputStream().write(new byte[] {0x16, 3, 1, 1, 0, 1});
            }
            broker.await(() -> broker.network().unauthenticatedConnections() == 3);

            // when
            try (Socket refused = new Socket(InetAddress.getLoopbackAddress(), broker.port())) {
                assertThat(refused.getInputStream().readAllBytes())
                        .as("at most the alert that ends TLS")
                        .hasSizeLessThan(64);
            }

            // then
            assertThat(broker.network().authenticationFailures(AuthenticationFailure.ADDRESS))
                    .isEqualTo(1);
        } finally {
            for (Socket half : halves) {
                half.close();
            }
        }
        broker.await(() -> broker.network().unauthenticatedConnections() == 0);
        createTopic(keys.client());
        produce(keys.client(), 1);
        assertThat(readAll(keys.client(), 1)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameTheUserByItsCertificateWhenClientsPresentOne(Provider provider) throws Exception {
        // given
        broker.with("ssl.client.auth", "required")
                .with("ssl.principal.mapping.rules", "RULE:^CN=([^,]+),.*$/$1/L, DEFAULT");
        start(provider);
        Map<String, Object> ada = keys.client("ada");
        createTopic(ada);

        // when only the user "ada" has a quota
        try (Admin admin = admin(ada)) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "ada")),
                            List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 200_000.0)))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
        double throttledMs = produce(ada, 5);

        // then
        assertThat(throttledMs).isPositive();
        assertInOrder(readAll(ada, 5));
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAClientWhenItsCertificateIsMissingOrOfAnotherAuthority(Provider provider) throws Exception {
        broker.with("ssl.client.auth", "required");
        start(provider);
        TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");

        assertRefused(keys.sockets(null));
        assertRefused(keys.sockets(others.sign("CN=ada", Algorithm.ecp256)));

        broker.await(() -> broker.network().tlsFailures(TlsFailure.CERTIFICATE)
                        + broker.network().tlsFailures(TlsFailure.PROTOCOL)
                == 2);
        try (WireClient client = connect(keys.sockets(keys.signRsa("CN=ada")))) {
            assertThat(versions(client).errorCode()).isZero();
        }
    }

    @Test
    void shouldRefuseAClientWhenNoRuleMatchesItsCertificate() throws Exception {
        broker.with("ssl.client.auth", "required").with("ssl.principal.mapping.rules", "RULE:^CN=(grace),.*$/$1/");
        broker.start();

        try (WireClient client = connect(keys.sockets(keys.sign("CN=ada,O=Example", Algorithm.ecp256)))) {
            assertThatThrownBy(() -> versions(client)).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWakeAParkedFetchWhenARecordArrives(Provider provider) throws Exception {
        // given
        start(provider);
        createTopic(keys.client());
        try (WireClient client = connect(keys.sockets(null))) {
            // when
            int id = client.send(fetch(30_000, 1 << 20), FETCH_VERSION);
            Thread.sleep(300);
            long producedNanos = System.nanoTime();
            produce(keys.client(), 1);
            FetchResponse response = client.receive(FetchResponse.class, ApiKey.FETCH, FETCH_VERSION, id);

            // then
            assertThat(response.responses().get(0).partitions().get(0).records().sizeBytes())
                    .isGreaterThan(VALUE_SIZE_BYTES);
            assertThat(System.nanoTime() - producedNanos).isLessThan(TimeUnit.SECONDS.toNanos(10));
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void shouldBoundItsMemoryWhenClientsDoNotReadLargeResponses(Provider provider) throws Exception {
        // given 64 MiB, and 20 clients that each ask for 48 MiB
        start(provider);
        createTopic(keys.client());
        produce(keys.client(), RECORDS);
        SSLContext sockets = keys.sockets(null);
        List<WireClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 20; i++) {
                clients.add(connect(sockets));
                versions(clients.get(i));
            }
            long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();

            // when none of them reads
            List<Integer> ids = new ArrayList<>();
            for (WireClient client : clients) {
                ids.add(client.send(fetch(0, 48 << 20), FETCH_VERSION));
            }
            Thread.sleep(3_000);

            // then 20 times 256 KiB of chunks, the same encrypted, and what arenas round up
            long grown = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before;
            assertThat(grown).isLessThan(50L << 20);
            // and a client that begins to read gets everything
            FetchResponse response =
                    clients.get(7).receive(FetchResponse.class, ApiKey.FETCH, FETCH_VERSION, ids.get(7));
            assertThat(response.responses().get(0).partitions().get(0).records().sizeBytes())
                    .isGreaterThan(40 << 20);
        } finally {
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeAClientWhenItsBytesArriveOneByOne(Provider provider) throws Exception {
        start(provider);
        try (Socket slow = new SlowSocket(broker.port());
                WireClient client = new WireClient(
                        keys.sockets(null).getSocketFactory().createSocket(slow, "127.0.0.1", broker.port(), true))) {
            assertThat(versions(client).errorCode()).isZero();
            assertThat(versions(client).errorCode()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveOneLineWithoutTheBytesWhenAClientDoesNotSpeakTls(Provider provider) throws Exception {
        // given
        broker.with("admin.listener", "127.0.0.1:0");
        start(provider);
        try (InputTrace trace = new InputTrace(broker);
                Socket plain = new Socket(InetAddress.getLoopbackAddress(), broker.port())) {
            // when
            plain.setSoTimeout(10_000);
            plain.getOutputStream().write(("password=" + TestKeys.PASSWORD).getBytes(StandardCharsets.US_ASCII));
            assertThat(plain.getInputStream().readNBytes(1_000).length).isLessThan(1_000);

            // then
            broker.await(() -> !trace.lines().isEmpty());
            assertThat(trace.lines()).singleElement().asString().contains(TlsFailure.NOT_TLS.reason());
            String hex = HexFormat.of().formatHex(TestKeys.PASSWORD.getBytes(StandardCharsets.US_ASCII));
            assertThat(trace.lines().get(0)).doesNotContain(TestKeys.PASSWORD).doesNotContain(hex);
            assertThat(broker.page("/metrics").body()).contains("journalq_tls_failures_total{reason=\"not_tls\"} 1.0");
        }
    }

    @Test
    void shouldNegotiateOnlySafeVersionsAndSuitesWhenOpensslAsks() throws Exception {
        assumeTrue(run("openssl", "version").startsWith("OpenSSL"), "needs openssl");
        broker.start();

        assertThat(handshake("-tls1_3")).contains("TLSv1.3").contains("Cipher is TLS_AES_");
        assertThat(handshake("-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"))
                .contains("TLS_CHACHA20_POLY1305_SHA256");
        assertThat(handshake("-tls1_2")).contains("TLSv1.2").contains("ECDHE-ECDSA-AES128-GCM-SHA256");
        assertThat(handshake("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA")).contains("Cipher is (NONE)");
        assertThat(handshake("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")).contains("Cipher is (NONE)");
    }

    @Test
    void shouldPresentAChainThatOnlyItsAuthorityVerifiesWhenOpensslAsks() throws Exception {
        assumeTrue(run("openssl", "version").startsWith("OpenSSL"), "needs openssl");
        broker.start();
        TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");

        String trusted = keys.directory().resolve("authority.pem").toString();
        assertThat(handshake("-CAfile", trusted, "-verify_ip", "127.0.0.1", "-verify_return_error"))
                .contains("Verify return code: 0 (ok)");
        assertThat(handshake("-CAfile", trusted, "-verify_ip", "127.0.0.2", "-verify_return_error"))
                .contains("IP address mismatch");
        assertThat(handshake(
                        "-CAfile", others.directory().resolve("authority.pem").toString(), "-verify_return_error"))
                .contains("certificate verify failed");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void shouldRefuseAClientWhenItsCertificateHasExpiredSinceItsSessionBegan(Provider provider) throws Exception {
        assumeTrue(run("openssl", "version").startsWith("OpenSSL"), "needs openssl");
        broker.with("ssl.client.auth", "required");
        start(provider, "TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
        String brief = keys.directory().resolve("brief.pem").toString();
        Instant expiry;
        int lifetimeSeconds = 8;
        do { // once more with a longer life, if the certificate has expired before both sessions had begun
            expiry = Instant.now().plusSeconds(lifetimeSeconds).truncatedTo(ChronoUnit.SECONDS);
            keys.write(
                    "brief",
                    keys.sign(new CertificateBuilder().subject("CN=brief").notAfter(expiry)));
            for (String version : List.of("-tls1_3", "-tls1_2")) {
                long before = broker.network().tlsHandshakes();
                do { // a slow machine does not get through the handshake within a second
                    connectForASecond(version, "-cert", brief, "-key", brief, "-sess_out", sessionOf(version));
                } while (broker.network().tlsHandshakes() == before
                        && Instant.now().isBefore(expiry));
            }
            lifetimeSeconds *= 2;
        } while (!Instant.now().isBefore(expiry));

        // when the certificate expires
        Thread.sleep(Math.max(0, Duration.between(Instant.now(), expiry).toMillis()) + 1_100);

        // then TLS 1.2 resumes its session, and the broker refuses it
        for (String version : List.of("-tls1_3", "-tls1_2")) {
            long before = refusedCertificates();
            List<String> options = new ArrayList<>(List.of(version, "-cert", brief, "-key", brief));
            if (Files.exists(Path.of(sessionOf(version)))) {
                options.addAll(List.of("-sess_in", sessionOf(version)));
            }
            for (int attempt = 0; attempt < MOST_ATTEMPTS && refusedCertificates() == before; attempt++) {
                connectForASecond(options.toArray(new String[0]));
            }
            broker.await(() -> refusedCertificates() > before);
        }
    }

    private String sessionOf(String version) {
        return directory.resolve("session" + version).toString();
    }

    private long refusedCertificates() {
        return broker.network().tlsFailures(TlsFailure.CERTIFICATE);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void shouldReleaseEverythingWhenAClientResetsTheConnectionWithinALargeResponse(Provider provider) throws Exception {
        // given 64 MiB, and a client that has read a part of its response
        start(provider);
        createTopic(keys.client());
        produce(keys.client(), RECORDS);
        broker.await(() -> broker.network().openConnections() == 0);
        long before = PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
        for (int i = 0; i < 10; i++) {
            Socket socket = new Socket();
            socket.setReceiveBufferSize(64 * 1024);
            socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port()));
            socket.setSoLinger(true, 0);
            WireClient client = new WireClient(
                    keys.sockets(null).getSocketFactory().createSocket(socket, "127.0.0.1", broker.port(), true));
            client.send(fetch(0, 48 << 20), FETCH_VERSION);
            assertThat(client.socket.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);

            // when it resets the connection
            socket.close();
        }

        // then
        broker.await(() -> broker.network().openConnections() == 0);
        broker.await(() -> PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before < 5 << 20);
        assertThat(readAll(keys.client(), RECORDS)).hasSize(RECORDS);
    }

    @Test
    void shouldRefuseToStartWhenItsKeysCannotBeUsed() throws Exception {
        Path file = keys.directory().resolve("broker.p12");
        Files.writeString(keys.passwordFile(), "wrong");
        assertThatThrownBy(broker::start)
                .isInstanceOf(StartException.class)
                .hasMessageContaining("cannot use " + file + " as PKCS12")
                .hasMessageNotContaining("wrong");

        Files.writeString(keys.passwordFile(), TestKeys.PASSWORD);
        X509Bundle one = keys.sign("CN=one", Algorithm.ecp256);
        X509Bundle two = keys.sign("CN=two", Algorithm.ecp256);
        keys.replace("mixed.pem", one.getPrivateKeyPEM() + two.getCertificatePathPEM());
        broker.with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("mixed.pem").toString());
        assertThatThrownBy(broker::start).hasMessageContaining("does not belong to the private key");
    }

    @Test
    @Tag("long")
    void shouldUseNewFilesAndKeepTheOldOnesOnErrorsWhenTheyChangeUnderLoad() throws Exception {
        // given
        Path pem = keys.directory().resolve("broker.pem");
        broker.with("ssl.keystore.type", "PEM")
                .with("ssl.keystore.location", pem.toString())
                .with("ssl.client.auth", "required");
        broker.start();
        Map<String, Object> ada = keys.client("ada");
        createTopic(ada);
        AtomicBoolean done = new AtomicBoolean();
        List<Integer> written = new ArrayList<>();
        Thread load = new Thread(() -> {
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(ada)) {
                while (!done.get()) {
                    producer.send(new ProducerRecord<>("t", 0, null, new byte[100]))
                            .get(20, TimeUnit.SECONDS);
                    written.add(written.size());
                }
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
        });
        load.start();
        SSLContext client = keys.sockets(keys.sign("CN=ada", Algorithm.ecp256));

        // when the file is cut, then replaced
        String whole = Files.readString(pem);
        keys.replace("broker.pem", whole.substring(0, whole.length() / 2));
        broker.await(() -> broker.network().tlsReloadFailures() == 1);
        String kept = subjectOfBroker(client);
        keys.write("broker", keys.signRsa("CN=second"));
        broker.await(() -> broker.network().tlsReloads() == 1);
        String replaced = subjectOfBroker(client);
        done.set(true);
        load.join();

        // then
        assertThat(kept).isEqualTo("CN=broker");
        assertThat(replaced).isEqualTo("CN=second");
        assertThat(written).hasSizeGreaterThan(100);

        // and a client that the newest truststore does not cover is closed
        try (WireClient stranger = connect(client)) {
            versions(stranger);
            TestKeys others = new TestKeys(directory.resolve("others"), "Another authority");
            Files.copy(
                    others.directory().resolve("authority.p12"),
                    keys.directory().resolve("authority.p12"),
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            broker.await(() -> broker.network().tlsReloads() == 2);
            assertThatThrownBy(() -> versions(stranger)).isInstanceOf(IOException.class);
        }
    }

    private void start(Provider provider) throws Exception {
        start(provider, "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384");
    }

    private void start(Provider provider, String suitesOfTheJdk) throws Exception {
        if (provider == Provider.JDK) {
            broker.with("ssl.cipher.suites", suitesOfTheJdk);
        } else {
            assertThat(OpenSsl.isAvailable())
                    .as("%s", OpenSsl.unavailabilityCause())
                    .isTrue();
        }
        broker.start();
    }

    private Admin admin(Map<String, Object> client) {
        Map<String, Object> settings = new TreeMap<>(client);
        settings.put("bootstrap.servers", broker.bootstrap());
        return Admin.create(settings);
    }

    private void createTopic(Map<String, Object> client) throws Exception {
        try (Admin admin = admin(client)) {
            admin.createTopics(List.of(new NewTopic("t", 1, (short) 1))).all().get(20, TimeUnit.SECONDS);
        }
    }

    /** Writes records that begin with their number. Returns for how long the broker throttled the producer, in ms. */
    private double produce(Map<String, Object> client, int count) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(client)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                byte[] value = ByteBuffer.allocate(VALUE_SIZE_BYTES).putInt(i).array();
                sent.add(producer.send(new ProducerRecord<>("t", 0, null, value)));
            }
            for (Future<RecordMetadata> record : sent) {
                record.get(60, TimeUnit.SECONDS);
            }
            return producer.metrics().entrySet().stream()
                    .filter(metric -> metric.getKey().name().equals("produce-throttle-time-max"))
                    .mapToDouble(metric -> (double) metric.getValue().metricValue())
                    .max()
                    .orElseThrow();
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> readAll(Map<String, Object> client, int count) {
        Map<String, Object> settings = new TreeMap<>(client);
        settings.put("max.partition.fetch.bytes", 32 << 20);
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(settings)) {
            consumer.assign(List.of(PARTITION));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (records.size() < count && System.nanoTime() < deadlineNanos) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        assertThat(records).hasSize(count);
        return records;
    }

    private static void assertInOrder(List<ConsumerRecord<byte[], byte[]>> records) {
        for (int i = 0; i < records.size(); i++) {
            assertThat(records.get(i).value()).hasSize(VALUE_SIZE_BYTES);
            assertThat(ByteBuffer.wrap(records.get(i).value()).getInt()).isEqualTo(i);
        }
    }

    private static FetchRequest fetch(int maxWaitMs, int maxBytes) {
        return new FetchRequest()
                .setMaxWaitMs(maxWaitMs)
                .setMinBytes(1)
                .setMaxBytes(maxBytes)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(maxBytes)))));
    }

    private WireClient connect(SSLContext context) throws IOException {
        Socket socket = context.getSocketFactory().createSocket();
        socket.setReceiveBufferSize(64 * 1024);
        socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port()));
        return new WireClient(socket);
    }

    private static ApiVersionsResponse versions(WireClient client) throws IOException {
        return client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0);
    }

    private void assertRefused(SSLContext context) throws IOException {
        try (WireClient client = connect(context)) {
            assertThatThrownBy(() -> versions(client)).isInstanceOf(IOException.class);
        }
    }

    private String subjectOfBroker(SSLContext context) throws Exception {
        try (WireClient client = connect(context)) {
            versions(client);
            return ((SSLSocket) client.socket).getSession().getPeerPrincipal().getName();
        }
    }

    private String handshake(String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of("openssl", "s_client", "-connect", "127.0.0.1:" + broker.port(), "-no_ign_eof"));
        command.addAll(List.of(options));
        return run(command.toArray(new String[0]));
    }

    /** Lets openssl receive what the broker sends after the handshake, such as a session. */
    private void connectForASecond(String... options) throws Exception {
        run(
                "sh",
                "-c",
                "sleep 1 | openssl s_client -connect 127.0.0.1:" + broker.port() + " " + String.join(" ", options));
    }

    private static String run(String... command) throws Exception {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return output;
        } catch (IOException missing) {
            return "";
        }
    }

    /** A socket that sends each byte in a packet of its own. */
    private static final class SlowSocket extends Socket {
        SlowSocket(int port) throws IOException {
            super(InetAddress.getLoopbackAddress(), port);
            setTcpNoDelay(true);
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    for (int i = 0; i < length; i++) {
                        out.write(bytes[offset + i]);
                        out.flush();
                    }
                }
            };
        }
    }
}
