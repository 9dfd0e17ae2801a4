package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AllocateProducerIdsRequest;
import io.journalq.common.protocol.message.AllocateProducerIdsResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.broker.Broker;
import io.journalq.server.broker.OfflineUsers;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.peer.PeerEncryption;
import io.journalq.server.process.LoopbackPorts;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three brokers with the profile production: each connection is encrypted, and each side proves who it is. The tests
 * share them, because to start and to stop them takes longest.
 */
@Timeout(180)
class ClosedClusterTest {
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 6;
    private static final int RECORDS = 60;
    private static final int WAIT_SECONDS = 60;

    @TempDir
    private static Path directory;

    private static X509Bundle ofBrokers;
    private static X509Bundle ofClients;
    private static X509Bundle broker;
    private static final Map<Integer, Integer> CLIENT_PORTS = new TreeMap<>();
    private static final Map<Integer, Integer> BROKER_PORTS = new TreeMap<>();
    private static final Map<Integer, Integer> QUORUM_PORTS = new TreeMap<>();
    private static final List<Broker> BROKERS_STARTED = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        makeKeys();
        new OfflineUsers(config(1, true))
                .add("ada", "secret".getBytes(StandardCharsets.UTF_8), List.of(ScramMechanism.values()));
        for (int node = 1; node <= BROKERS; node++) {
            BROKERS_STARTED.add(Broker.start(config(node, false)));
        }
    }

    private static void makeKeys() throws Exception {
        ofBrokers = authority("CN=authority of brokers");
        ofClients = authority("CN=authority of clients");
        broker = sign(ofBrokers, "CN=broker,O=Example");
        write("brokers.pem", ofBrokers.getCertificatePEM());
        write("broker.pem", broker.getPrivateKeyPEM() + broker.getCertificatePathPEM());
        write("clients.pem", ofClients.getCertificatePEM());
        X509Bundle forClients = sign(ofClients, "CN=service");
        write("service.pem", forClients.getPrivateKeyPEM() + forClients.getCertificatePathPEM());
        for (int node = 1; node <= BROKERS; node++) {
            CLIENT_PORTS.put(node, LoopbackPorts.next());
            BROKER_PORTS.put(node, LoopbackPorts.next());
            QUORUM_PORTS.put(node, LoopbackPorts.next());
        }
    }

    private static X509Bundle authority(String subject) throws Exception {
        return new CertificateBuilder()
                .subject(subject)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private static X509Bundle sign(X509Bundle authority, String subject) throws Exception {
        return new CertificateBuilder()
                .subject(subject)
                .algorithm(CertificateBuilder.Algorithm.ecp256)
                .addSanDnsName("localhost")
                .addSanIpAddress("127.0.0.1")
                .buildIssuedBy(authority);
    }

    private static void write(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static String file(String name) {
        return directory.resolve(name).toString();
    }

    @AfterAll
    static void close() {
        BROKERS_STARTED.forEach(Broker::close);
    }

    private static BrokerConfig config(int node, boolean alone) throws Exception {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("security.profile", "production");
        all.put("auto.create.topics.enable", "false");
        all.put("node.id", Integer.toString(node));
        all.put(
                "listeners",
                "CLIENTS://127.0.0.1:" + CLIENT_PORTS.get(node) + ",BROKERS://127.0.0.1:" + BROKER_PORTS.get(node));
        all.put("listener.security.protocol.map", "CLIENTS:SASL_SSL,HTTP:SASL_SSL,BROKERS:SSL,QUORUM:SSL");
        all.put("inter.broker.listener.name", "BROKERS");
        all.put("ssl.keystore.type", "PEM");
        all.put("ssl.truststore.type", "PEM");
        all.put("ssl.keystore.location", file("service.pem"));
        for (String scope : List.of("listener.name.brokers.", "listener.name.quorum.")) {
            if (!alone || scope.contains("brokers")) {
                all.put(scope + "ssl.keystore.location", file("broker.pem"));
                all.put(scope + "ssl.truststore.location", file("brokers.pem"));
                all.put(scope + "ssl.client.auth", "required");
            }
        }
        if (!alone) {
            all.put("quorum.listener", "QUORUM://127.0.0.1:" + QUORUM_PORTS.get(node));
        }
        if (node > 1) {
            all.put("cluster.join", "127.0.0.1:" + BROKER_PORTS.get(1));
        }
        all.put("admin.listener", "");
        all.put("gateway.listener", alone ? "" : "HTTP://127.0.0.1:0");
        all.put("write.ahead.max.bytes", "1048576");
        all.put("shutdown.timeout.ms", "3000");
        all.put("data.directories", directory.resolve("data" + node).toString());
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : all.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        return config;
    }

    private static Map<String, Object> client(int node, String user, String password) {
        return new TreeMap<>(Map.of(
                "bootstrap.servers",
                "127.0.0.1:" + CLIENT_PORTS.get(node),
                "security.protocol",
                "SASL_SSL",
                "ssl.truststore.type",
                "PEM",
                "ssl.truststore.location",
                file("clients.pem"),
                "sasl.mechanism",
                "SCRAM-SHA-256",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"" + user + "\" password=\""
                        + password + "\";"));
    }

    /** A client of the listener for brokers, with a certificate. */
    private static PeerEncryption presenting(X509Bundle keys, X509Bundle trusted) {
        return new PeerEncryption() {
            @Override
            public SslHandler handler(Channel channel, String host, int port) {
                try {
                    return SslContextBuilder.forClient()
                            .keyManager(keys.toKeyManagerFactory())
                            .trustManager(trusted.getCertificate())
                            .build()
                            .newHandler(channel.alloc(), host, port);
                } catch (Exception unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            }

            @Override
            public boolean isBroker(X509Certificate certificate) {
                return true;
            }
        };
    }

    private ErrorCode askAsBroker(X509Bundle keys) throws Exception {
        try (NettyPeerChannels channels = new NettyPeerChannels("test", presenting(keys, ofBrokers))) {
            AllocateProducerIdsResponse response = (AllocateProducerIdsResponse) channels.send(
                            "127.0.0.1",
                            BROKER_PORTS.get(1),
                            new AllocateProducerIdsRequest().setBrokerId(2),
                            0,
                            20_000)
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            return ErrorCode.of(response.errorCode());
        }
    }

    @Test
    void shouldServeClientsWhenBrokersProveToEachOtherWhoTheyAre() throws Exception {
        // when
        try (Admin admin = Admin.create(client(2, "ada", "secret"))) {
            admin.createTopics(List.of(new NewTopic("t", PARTITIONS, (short) 1)))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                            "bob",
                            new ScramCredentialInfo(org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_256, 4_096),
                            "other")))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }

        // then the user that one broker was asked for can use all of them
        int read = 0;
        Map<String, Object> bob = client(3, "bob", "other");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(bob, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>("t", i % PARTITIONS, null, "value " + i))
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }
        bob.put("group.id", "readers");
        bob.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(bob, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("t"));
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (read < RECORDS && System.nanoTime() < deadlineNanos) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        assertThat(read).isEqualTo(RECORDS);
    }

    @Test
    void shouldPassOnRequestsOverHttpWhenBrokersProveToEachOtherWhoTheyAre() throws Exception {
        // given partitions of all brokers
        try (Admin admin = Admin.create(client(1, "ada", "secret"))) {
            admin.createTopics(List.of(new NewTopic("http", PARTITIONS, (short) 1)))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
        String records = IntStream.range(0, PARTITIONS)
                .mapToObj(i -> "{\"partition\":" + i + ",\"value\":\"value " + i + "\"}")
                .collect(Collectors.joining(",", "{\"records\":[", "]}"));

        // when each broker knows the topic
        String appended = "";
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        for (int node = 1; node <= BROKERS; node++) {
            HttpResponse<String> response;
            do {
                response = http(node, "ada:secret", BodyPublishers.ofString(records));
            } while (response.statusCode() == 404 && System.nanoTime() < deadlineNanos);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            appended = response.body();
        }

        // then
        assertThat(appended).contains("\"records\":" + PARTITIONS + ",");
        for (int node = 1; node <= BROKERS; node++) {
            assertThat(http(node, "ada:secret", null).body().split("\"value\":\"value ", -1))
                    .as("what broker %s reads of all", node)
                    .hasSize(1 + BROKERS * PARTITIONS);
            assertThat(http(node, "ada:wrong", null).statusCode()).isEqualTo(401);
        }
    }

    /** @param body null to read */
    private HttpResponse<String> http(int node, String userAndPassword, BodyPublisher body) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, ofClients.toTrustManagerFactory().getTrustManagers(), null);
        String login = Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(
                        "https://127.0.0.1:" + BROKERS_STARTED.get(node - 1).gatewayPort() + "/v1/topics/http/records"))
                .header("Authorization", "Basic " + login);
        if (body != null) {
            request.header("Content-Type", "application/json").POST(body);
        }
        return HttpClient.newBuilder().sslContext(context).build().send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void shouldRefuseOthersWhenTheyPretendToBeBrokers() throws Exception {
        // given
        X509Bundle client = sign(ofBrokers, "CN=client,O=Example");
        X509Bundle stranger = sign(ofClients, "CN=broker,O=Example");

        // then
        // Another broker may have become the controller.
        assertThat(askAsBroker(broker)).as("a broker").isIn(ErrorCode.NONE, ErrorCode.NOT_CONTROLLER);
        assertThat(askAsBroker(client))
                .as("a trusted certificate of another user")
                .isEqualTo(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);
        assertThatThrownBy(() -> askAsBroker(stranger))
                .as("a certificate of another authority")
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IOException.class);
        assertThat(isClosedByQuorum(client)).as("another user as a voter").isTrue();
        assertThat(isClosedByQuorum(stranger)).as("another authority").isTrue();
        assertThat(isClosedByQuorum(null)).as("no certificate").isTrue();
        assertThat(isClosedByQuorum(broker)).as("a broker").isFalse();
        try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), QUORUM_PORTS.get(1))) {
            plain.setSoTimeout(WAIT_SECONDS * 1_000);
            plain.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(plain.getInputStream().readAllBytes())
                    .as("no HTTP/2 without TLS")
                    .hasSizeLessThan(20);
        }
    }

    /** Whether the quorum's port ends the connection of a client with this certificate, and says nothing of HTTP/2. */
    private boolean isClosedByQuorum(X509Bundle keys) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(
                keys == null ? null : keys.toKeyManagerFactory().getKeyManagers(),
                ofBrokers.toTrustManagerFactory().getTrustManagers(),
                null);
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", QUORUM_PORTS.get(1))) {
            socket.setSoTimeout(WAIT_SECONDS * 1_000);
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            // With TLS 1.3, the server checks the certificate after the client has completed its handshake.
            return socket.getInputStream().read() < 0;
        } catch (IOException refused) {
            return true;
        }
    }
}
