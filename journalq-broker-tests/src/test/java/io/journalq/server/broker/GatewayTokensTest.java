package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.security.token.TestIssuer;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLSocket;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Logins at the gateway with tokens. */
@Timeout(180)
class GatewayTokensTest {
    /**
     * How long the check of a token takes at most. A request ends earlier by that than its token, so that nothing is
     * accepted after it has expired.
     */
    private static final int CHECK_MS = 1_000;

    private static final String RECORDS = "/v1/topics/t/records";
    private static final String BASIC = "Basic realm=\"journalq\", charset=\"UTF-8\"";
    private static final String BEARER = "Bearer realm=\"journalq\"";
    private static final String INVALID_TOKEN = BEARER + ", error=\"invalid_token\"";

    /** Long enough for a slow machine to begin a stream. */
    private static final int SHORT_LIFE_SECONDS = 12;

    private static final String LAST_CHUNK = "0\r\n\r\n";
    private static final int LARGE_RECORDS = 32;
    private static final int LARGE_BYTES = 1_000_000;
    private static final Pattern CURSOR = Pattern.compile("\\{\"cursor\":\"0:([0-9]+)\",\"atEnd\":false}");

    @TempDir
    private Path directory;

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.journalq");
    private final Lines lines = new Lines();
    private TestKeys keys;
    private TestBroker broker;

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
    void prepare() throws Exception {
        lines.start();
        logger.setLevel(Level.TRACE);
        logger.setAdditive(false);
        logger.addAppender(lines);
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        Path jwks = Files.writeString(directory.resolve("jwks.json"), TestIssuer.TRUSTED.jwks());
        broker = new TestBroker(directory.resolve("data"))
                .with("gateway.listener", "SASL_SSL://127.0.0.1:0")
                .with("sasl.enabled.mechanisms", "SCRAM-SHA-256,OAUTHBEARER")
                .with("sasl.oauthbearer.jwks.endpoint.url", jwks.toUri().toString())
                .with("sasl.oauthbearer.expected.issuer", TestIssuer.ISSUER)
                .with("sasl.oauthbearer.expected.audience", TestIssuer.AUDIENCE)
                .with("sasl.oauthbearer.clock.skew.seconds", "0")
                .with("max.authentication.failures.per.ip", "0")
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString());
    }

    @AfterEach
    void stop() {
        broker.close();
        logger.detachAppender(lines);
        logger.setAdditive(true);
        logger.setLevel(null);
    }

    private GatewayClient start() throws Exception {
        broker.start();
        broker.createTopic("t", 1, Map.of());
        return new GatewayClient(broker.gatewayPort(), keys.sockets(null));
    }

    private static String token(String user) throws Exception {
        return TestIssuer.TRUSTED.token(user, Instant.now().plusSeconds(300));
    }

    private static HttpResponse<String> post(GatewayClient gateway, String authorization) throws Exception {
        return gateway.post(RECORDS, BYTES, "x", "Authorization", authorization);
    }

    private static String challenge(HttpResponse<?> response) {
        return response.headers().firstValue("WWW-Authenticate").orElseThrow();
    }

    /** No line of the log contains the token or its signature. */
    private void assertNotLogged(String token) {
        assertThat(lines.seen).isNotEmpty();
        assertThat(lines.seen).noneMatch(line -> line.contains(token) || line.contains(signature(token)));
    }

    private static String signature(String token) {
        return token.substring(token.lastIndexOf('.') + 1);
    }

    @Test
    void shouldMoveNoOffsetsWhenThoseOfOneTopicMayNotBeMoved() throws Exception {
        broker.with("authorization.enabled", "true").with("super.users", "User:ANONYMOUS");
        GatewayClient gateway = start();
        broker.createTopic("u", 1, Map.of());
        Map<TopicPartition, OffsetAndMetadata> committed = Map.of(
                new TopicPartition("t", 0), new OffsetAndMetadata(5),
                new TopicPartition("u", 0), new OffsetAndMetadata(5));
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets("g", committed).all().get(20, TimeUnit.SECONDS);
            admin.createAcls(List.of(
                            allow(ResourceType.GROUP, "g", AclOperation.READ),
                            allow(ResourceType.TOPIC, "t", AclOperation.READ),
                            allow(ResourceType.TOPIC, "u", AclOperation.DESCRIBE)))
                    .all()
                    .get(20, TimeUnit.SECONDS);

            HttpResponse<String> moved = gateway.send(gateway.request("/v1/groups/g/offsets")
                    .header("Authorization", "Bearer " + token("ada"))
                    .header("Content-Type", GatewayClient.JSON)
                    .POST(BodyPublishers.ofString("{\"to\":\"start\",\"execute\":true}")));

            assertThat(moved.statusCode()).as(moved.body()).isEqualTo(403);
            assertThat(admin.listConsumerGroupOffsets("g")
                            .partitionsToOffsetAndMetadata()
                            .get(20, TimeUnit.SECONDS))
                    .isEqualTo(committed);
        }
    }

    private static AclBinding allow(ResourceType type, String name, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(type, name, PatternType.LITERAL),
                new AccessControlEntry("User:ada", "*", operation, AclPermissionType.ALLOW));
    }

    @Test
    void shouldAskForTheRightsOfTheUserOfAToken() throws Exception {
        // given
        broker.with("authorization.enabled", "true").with("super.users", "User:ANONYMOUS");
        GatewayClient gateway = start();
        try (Admin admin = broker.admin()) {
            admin.createAcls(List.of(new AclBinding(
                            new ResourcePattern(ResourceType.TOPIC, "t", PatternType.LITERAL),
                            new AccessControlEntry("User:ada", "*", AclOperation.WRITE, AclPermissionType.ALLOW))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
        String ada = token("ada");
        String bob = token("bob");

        // when one connection carries the requests of several users
        HttpResponse<String> written = post(gateway, "Bearer " + ada);
        HttpResponse<String> again = post(gateway, "bearer   " + ada);
        HttpResponse<String> read = gateway.send(gateway.request(RECORDS).header("Authorization", "Bearer " + ada));

        // then
        assertThat(written.statusCode()).as(written.body()).isEqualTo(200);
        assertThat(again.statusCode()).as(again.body()).isEqualTo(200);
        assertThat(read.statusCode()).as(read.body()).isEqualTo(403);
        try (AuditLines audit = new AuditLines()) {
            HttpResponse<String> refused = post(gateway, "Bearer " + bob);
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(audit.lineOf(refused.body()))
                    .contains("\"principal\":\"User:bob\"", "\"operation\":\"WRITE\"")
                    .doesNotContain(signature(bob));
        }
        assertNotLogged(ada);
        assertNotLogged(bob);
    }

    @Test
    void shouldRefuseATokenWithoutShowingItWhenItIsNotValid() throws Exception {
        // given
        GatewayClient gateway = start();
        Instant later = Instant.now().plusSeconds(300);
        Map<String, String> refusals = Map.of(
                TestIssuer.FORGER.token("ada", later),
                "no known key has signed the token",
                TestIssuer.TRUSTED.token("ada", Instant.now().minusSeconds(1)),
                "the token has expired",
                TestIssuer.TRUSTED.tokenFor("another", "ada", later),
                "the token is for another audience",
                "canary",
                "the token does not have three parts",
                "c*nary",
                "the header Authorization is not one of HTTP Bearer");

        for (Map.Entry<String, String> each : refusals.entrySet()) {
            String token = each.getKey();
            try (AuditLines audit = new AuditLines()) {
                // when
                HttpResponse<String> refused = post(gateway, "Bearer " + token);

                // then
                assertThat(refused.statusCode()).as(each.getValue()).isEqualTo(401);
                assertThat(challenge(refused)).isEqualTo(BASIC + ", " + INVALID_TOKEN);
                assertThat(refused.body())
                        .contains(
                                "urn:journalq:problem:unauthenticated",
                                "the token is missing or invalid, or has expired",
                                "send a user and its password as HTTP Basic, or a token as Bearer (Authorization)")
                        .doesNotContain(signature(token), each.getValue());
                assertThat(audit.lineOf(refused.body()))
                        .contains("\"api\":\"gateway.listener\"", "\"mechanism\":\"HTTP Bearer\"", each.getValue())
                        .doesNotContain(signature(token));
            }
            assertNotLogged(token);
        }
        HttpResponse<String> confluent = gateway.post(
                "/topics/t",
                "application/vnd.kafka.json.v2+json",
                "{\"records\":[{\"value\":1}]}",
                "Authorization",
                "Bearer canary");
        assertThat(confluent.statusCode()).isEqualTo(401);
        assertThat(challenge(confluent)).isEqualTo(BASIC + ", " + INVALID_TOKEN);
        assertThat(confluent.body()).contains("\"error_code\":401").doesNotContain("canary");
    }

    @Test
    void shouldListTheSchemesWhenARequestHasNoLogin() throws Exception {
        GatewayClient gateway = start();

        HttpResponse<String> none = gateway.get(RECORDS);
        HttpResponse<String> other = post(gateway, "Digest canary");
        HttpResponse<String> huge = post(gateway, "Bearer " + "x".repeat(17 * 1024));

        assertThat(none.statusCode()).isEqualTo(401);
        assertThat(challenge(none)).isEqualTo(BASIC + ", " + BEARER);
        assertThat(none.body()).doesNotContain("(event ");
        assertThat(other.statusCode()).isEqualTo(401);
        assertThat(challenge(other)).isEqualTo(BASIC + ", " + BEARER);
        assertThat(huge.statusCode()).isEqualTo(431);
        assertThat(huge.body()).doesNotContain("xxxx");
    }

    @Test
    void shouldRefuseTokensWhenTheListenerOffersOnlyPasswords() throws Exception {
        broker.with("listener.name.sasl_ssl.sasl.enabled.mechanisms", "SCRAM-SHA-256");
        TestUsers.add(broker, "ada", "right", ScramMechanism.values());
        GatewayClient gateway = start();
        String token = token("ada");

        HttpResponse<String> refused = post(gateway, "Bearer " + token);

        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(challenge(refused)).isEqualTo(BASIC);
        assertThat(refused.body())
                .contains("send a user and its password as HTTP Basic (Authorization)")
                .doesNotContain(signature(token));
        assertThat(post(gateway, basic("ada:right")).statusCode()).isEqualTo(200);
        assertNotLogged(token);
    }

    @Test
    void shouldRefusePasswordsWhenTheListenerOffersOnlyTokens() throws Exception {
        broker.with("sasl.enabled.mechanisms", "OAUTHBEARER");
        TestUsers.add(broker, "ada", "right", ScramMechanism.values());
        GatewayClient gateway = start();

        HttpResponse<String> refused = post(gateway, basic("ada:right"));

        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(challenge(refused)).isEqualTo(BEARER);
        assertThat(refused.body()).contains("send a token as Bearer (Authorization)");
        assertThat(post(gateway, "Bearer " + token("ada")).statusCode()).isEqualTo(200);
    }

    private static String basic(String userAndPassword) {
        return "Basic " + Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldNotStartWhenASettingOfTokensIsMissing() {
        assertThatThrownBy(() ->
                        broker.with("sasl.oauthbearer.expected.audience", "").start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining("sasl.oauthbearer.expected.audience: must be set");
    }

    private static Instant soon() {
        return Instant.now().plusSeconds(SHORT_LIFE_SECONDS).truncatedTo(ChronoUnit.SECONDS);
    }

    @Test
    void shouldEndEventsWhenTheTokenExpires() throws Exception {
        // given
        GatewayClient gateway = start();
        assertThat(post(gateway, "Bearer " + token("ada")).statusCode()).isEqualTo(200);
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);

        // when
        HttpResponse<InputStream> stream = gateway.stream(
                gateway.request("/v1/topics/t/events?from=start").header("Authorization", "Bearer " + token));
        String events = new String(stream.body().readAllBytes(), StandardCharsets.UTF_8);

        // then
        assertThat(Instant.now()).isAfterOrEqualTo(end.minusMillis(CHECK_MS));
        assertThat(stream.statusCode()).isEqualTo(200);
        assertThat(events)
                .contains("\"offset\":0", "event: problem", "unauthenticated", "the token has expired")
                .doesNotContain(signature(token));
        assertThat(post(gateway, "Bearer " + token).statusCode()).isEqualTo(401);
        assertNotLogged(token);
    }

    @Test
    void shouldEndAReadThatWaitsWhenTheTokenExpires() throws Exception {
        // given
        GatewayClient gateway = start();
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);

        // when
        HttpResponse<String> read = gateway.send(gateway.request(RECORDS + "?wait=30000")
                .header("Authorization", "Bearer " + token)
                .timeout(Duration.ofSeconds(60)));

        // then
        assertThat(read.statusCode()).isEqualTo(401);
        assertThat(Instant.now()).isAfterOrEqualTo(end.minusMillis(CHECK_MS));
        assertThat(challenge(read)).isEqualTo(BASIC + ", " + INVALID_TOKEN);
        assertThat(read.body()).contains("the token has expired").doesNotContain(signature(token));
        assertNotLogged(token);
    }

    @Test
    void shouldCloseAWebSocketWhenTheTokenExpires() throws Exception {
        // given
        start();
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);
        CompletableFuture<String> closed = new CompletableFuture<>();
        CompletableFuture<String> first = new CompletableFuture<>();
        WebSocket.Listener listener = new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
                first.complete(data.toString());
                socket.request(1);
                return null;
            }

            @Override
            public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
                closed.complete(code + " " + reason);
                return null;
            }

            @Override
            public void onError(WebSocket socket, Throwable failure) {
                closed.completeExceptionally(failure);
            }
        };

        // when
        WebSocket socket = HttpClient.newBuilder()
                .sslContext(keys.sockets(null))
                .build()
                .newWebSocketBuilder()
                .header("Authorization", "Bearer " + token)
                .subprotocols("journalq.json.v1")
                .buildAsync(URI.create("wss://127.0.0.1:" + broker.gatewayPort() + "/v1/ws"), listener)
                .get(60, TimeUnit.SECONDS);
        socket.sendText("{\"type\":\"subscribe\",\"topic\":\"t\",\"credit\":10}", true)
                .get(60, TimeUnit.SECONDS);

        // then
        assertThat(first.get(60, TimeUnit.SECONDS)).contains("\"subscribed\"");
        assertThat(closed.get(60, TimeUnit.SECONDS)).isEqualTo("1008 the token has expired");
        assertThat(Instant.now()).isAfterOrEqualTo(end.minusMillis(CHECK_MS));
        assertNotLogged(token);
    }

    /** The request lasts as long as its client sends records, and each gets its result. */
    @Test
    void shouldEndAStreamOfRecordsWhenTheTokenExpires() throws Exception {
        // given
        start();
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);
        String record = "{\"value\":{\"type\":\"STRING\",\"data\":\"" + "x".repeat(2_000) + "\"}}";
        String chunk = Integer.toHexString(record.length()) + "\r\n" + record + "\r\n";
        String last;
        int appended = 0;

        // when
        try (Socket socket = keys.sockets(null).getSocketFactory().createSocket("127.0.0.1", broker.gatewayPort())) {
            socket.setSoTimeout(60_000);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            String head = "POST /v3/clusters/any/topics/t/records HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer " + token
                    + "\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(ISO_8859_1));
            do {
                socket.getOutputStream().write(chunk.getBytes(ISO_8859_1));
                last = in.readLine();
                while (last != null && !last.startsWith("{")) {
                    last = in.readLine();
                }
                appended++;
            } while (last != null
                    && last.startsWith("{\"error_code\":200,")
                    && Instant.now().isBefore(end.plusSeconds(60)));
        }

        // then
        assertThat(last).contains("\"error_code\":401", "the token has expired");
        assertThat(Instant.now()).isAfterOrEqualTo(end.minusMillis(CHECK_MS));
        assertThat(appended).isGreaterThan(1);
        assertNotLogged(token);
    }

    /** 32 records of 1 MB, more than the buffers between the broker and a client that does not read. */
    private void fill(String topic) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            byte[] value = "x".repeat(LARGE_BYTES).getBytes(ISO_8859_1);
            for (int i = 0; i < LARGE_RECORDS; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, value)).get(60, TimeUnit.SECONDS);
            }
        }
    }

    /** A connection over TLS whose client soon reads too slowly. */
    private SSLSocket connect(int receiveBufferBytes) throws Exception {
        Socket plain = new Socket();
        plain.setReceiveBufferSize(receiveBufferBytes);
        plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.gatewayPort()));
        SSLSocket socket = (SSLSocket)
                keys.sockets(null).getSocketFactory().createSocket(plain, "127.0.0.1", plain.getPort(), true);
        socket.setSoTimeout(60_000);
        return socket;
    }

    private static void awaitEnd(Instant end) throws InterruptedException {
        while (!Instant.now().isAfter(end)) {
            Thread.sleep(10);
        }
    }

    private static List<Integer> offsets(String body) {
        return Pattern.compile("\"offset\":([0-9]+)")
                .matcher(body)
                .results()
                .map(each -> Integer.valueOf(each.group(1)))
                .toList();
    }

    /**
     * The clients wait with their reading until the token has expired, and longer than the broker waits for the rest of a
     * body and for the end of TLS. Then they read everything.
     */
    @Test
    void shouldEndResponsesThatAreReadSlowlyWhenTheTokenExpires() throws Exception {
        // given
        GatewayClient gateway = start();
        fill("t");
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);
        Map<String, SSLSocket> sockets = new TreeMap<>();
        Map<String, String> responses = new TreeMap<>();

        // when
        try {
            for (String path : List.of("records?from=start", "search?from=start&text=x")) {
                for (String header : List.of("", "Connection: close\r\n")) {
                    SSLSocket socket = connect(64 * 1024);
                    sockets.put(path + " " + header.strip(), socket);
                    String request = "GET /v1/topics/t/" + path + " HTTP/1.1\r\nHost: localhost\r\n" + header
                            + "Authorization: Bearer " + token + "\r\n\r\n";
                    socket.getOutputStream().write(request.getBytes(ISO_8859_1));
                }
            }
            awaitEnd(end.plusSeconds(8));
            for (Map.Entry<String, SSLSocket> each : sockets.entrySet()) {
                responses.put(each.getKey(), readChunks(each.getValue()));
            }
        } finally {
            for (SSLSocket socket : sockets.values()) {
                socket.close();
            }
        }

        // then
        for (Map.Entry<String, String> each : responses.entrySet()) {
            String response = each.getValue();
            String tail = response.substring(Math.max(0, response.length() - 2_000));
            assertThat(response).as(each.getKey()).startsWith("HTTP/1.1 200 ");
            assertThat(tail)
                    .as(each.getKey())
                    .contains("{\"error\":{", "\"urn:journalq:problem:unauthenticated\"", "the token has expired")
                    .endsWith(LAST_CHUNK)
                    .doesNotContain(signature(token));
            Matcher cursor = CURSOR.matcher(tail);
            assertThat(cursor.find()).as(tail).isTrue();
            int next = Integer.parseInt(cursor.group(1));
            assertThat(next).as("%s: ended by the token", each.getKey()).isBetween(1, LARGE_RECORDS - 1);
            assertThat(offsets(response)).as(each.getKey()).isEqualTo(range(0, next));
            HttpResponse<String> rest = gateway.send(gateway.request("/v1/topics/t/records?cursor=0:" + next)
                    .header("Authorization", "Bearer " + token("ada"))
                    .timeout(Duration.ofSeconds(60)));
            assertThat(offsets(rest.body())).as(each.getKey()).isEqualTo(range(next, LARGE_RECORDS));
        }
        assertThat(responses).hasSize(4);
        assertNotLogged(token);
    }

    private static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    /** Reads a response up to its last chunk, or up to the end of the connection. */
    private static String readChunks(SSLSocket socket) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        byte[] part = new byte[64 * 1024];
        String last = "";
        int size = 0;
        while (size >= 0 && !last.endsWith(LAST_CHUNK)) {
            size = socket.getInputStream().read(part);
            read.write(part, 0, Math.max(0, size));
            last += new String(part, 0, Math.max(0, size), ISO_8859_1);
            last = last.substring(Math.max(0, last.length() - LAST_CHUNK.length()));
        }
        return read.toString(ISO_8859_1);
    }

    /**
     * The client sends a record when the one before is there, and goes on when the token has expired. On a slow machine, the
     * last record before that may arrive too late.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAppendNothingOfAnUploadThatArrivesWhenTheTokenHasExpired(boolean compressed) throws Exception {
        // given
        start();
        Instant end = soon();
        String token = TestIssuer.TRUSTED.token("ada", end);
        int inTime = 0;
        long confirmed = 0;
        long appended;
        String response;

        // when
        try (SSLSocket socket = connect(64 * 1024);
                KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of())) {
            String head = "POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                    + (compressed ? "Content-Encoding: gzip\r\n" : "")
                    + "Transfer-Encoding: chunked\r\nAuthorization: Bearer " + token + "\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(ISO_8859_1));
            Chunks chunks = new Chunks(socket.getOutputStream());
            OutputStream body = compressed ? new GZIPOutputStream(chunks, 512, true) : chunks;
            CompletableFuture<String> received = CompletableFuture.supplyAsync(() -> readAll(socket));
            // The body is faster than 1 KiB/s, also when it is compressed, so that only the token ends it.
            byte[] padding = new byte[3_000];
            new Random(1).nextBytes(padding);
            while (Instant.now().isBefore(end.minusSeconds(1))) {
                line(body, "in time " + inTime + Base64.getEncoder().encodeToString(padding));
                inTime++;
                confirmed = stored(consumer);
                while (confirmed < inTime && Instant.now().isBefore(end)) {
                    Thread.sleep(5);
                    confirmed = stored(consumer);
                }
            }
            awaitEnd(end);
            try {
                for (int i = 0; i < 10; i++) {
                    line(body, "late " + i);
                }
            } catch (IOException refused) {
                assertThat(received).succeedsWithin(Duration.ofSeconds(60));
            }
            response = received.get(60, TimeUnit.SECONDS);
            appended = stored(consumer);
        }

        // then
        assertThat(appended).isBetween(confirmed, (long) inTime);
        assertThat(response)
                .startsWith("HTTP/1.1 401 ")
                .contains(
                        "the token has expired",
                        "\"records\":" + appended + ",",
                        "\"offsets\":[{\"partition\":0,\"first\":0,\"last\":" + (appended - 1) + "}]")
                .doesNotContain(signature(token));
        assertThat(confirmed).isGreaterThan(1);
        assertNotLogged(token);
    }

    private static void line(OutputStream body, String value) throws IOException {
        body.write(("{\"value\":\"" + value + "\"}\n").getBytes(ISO_8859_1));
        body.flush();
    }

    private static long stored(KafkaConsumer<byte[], byte[]> consumer) {
        TopicPartition partition = new TopicPartition("t", 0);
        return consumer.endOffsets(List.of(partition)).get(partition);
    }

    private static String readAll(Socket socket) {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(read);
        } catch (IOException closed) {
            // What has arrived until then is checked.
        }
        return read.toString(ISO_8859_1);
    }

    /** Writes each part as a chunk. */
    private static final class Chunks extends OutputStream {
        private final OutputStream out;

        Chunks(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (length > 0) {
                ByteArrayOutputStream chunk = new ByteArrayOutputStream();
                chunk.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(ISO_8859_1));
                chunk.write(bytes, from, length);
                chunk.writeBytes("\r\n".getBytes(ISO_8859_1));
                out.write(chunk.toByteArray());
            }
        }
    }
}
