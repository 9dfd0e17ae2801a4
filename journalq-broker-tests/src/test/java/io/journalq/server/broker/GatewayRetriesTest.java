package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static io.journalq.server.broker.GatewayClient.JSON;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
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

/** Requests over HTTP that a client repeats, because their responses were lost. */
@Timeout(120)
class GatewayRetriesTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String PRODUCER = "JQ-Producer";

    @TempDir
    private Path directory;

    private TestBroker broker;
    private GatewayClient gateway;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).with("gateway.listener", "127.0.0.1:0");
        startBroker();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void startBroker() throws Exception {
        broker.start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    private String producer(String topic) throws Exception {
        HttpResponse<String> response = gateway.post("/v1/topics/" + topic + "/producers", JSON, "");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return MAPPER.readTree(response.body()).get("producer").asText();
    }

    private HttpResponse<String> send(String topic, String producer, String type, String body, String... more)
            throws Exception {
        List<String> headers = new ArrayList<>(List.of(more));
        headers.addAll(List.of(PRODUCER, producer));
        return gateway.post("/v1/topics/" + topic + "/records", type, body, headers.toArray(String[]::new));
    }

    private static String next(HttpResponse<String> response) throws Exception {
        JsonNode document = MAPPER.readTree(response.body());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return document.get("producer").asText();
    }

    private List<String> values(String topic, int partitions, int count) {
        return broker
                .readAll(
                        IntStream.range(0, partitions)
                                .mapToObj(partition -> new TopicPartition(topic, partition))
                                .toList(),
                        count)
                .stream()
                .map(record -> new String(record.value(), UTF_8))
                .toList();
    }

    /** Records with and without keys, which fill several batches of each partition. */
    private static String document(int records, int valueBytes) {
        StringBuilder body = new StringBuilder("{\"records\":[");
        for (int i = 0; i < records; i++) {
            body.append(i == 0 ? "" : ",").append("{\"value\":\"").append(i).append("x".repeat(valueBytes));
            body.append(i % 3 == 0 ? "\"}" : "\",\"key\":\"k" + i + "\"}");
        }
        return body.append("]}").toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"consistent", "performance", "eventual"})
    void shouldAppendADocumentOnceWhenItIsSentAgain(String mode) throws Exception {
        broker.createTopic("t", 3, Map.of("delivery.mode", mode, "max.message.bytes", "20000"));
        String producer = producer("t");
        String body = document(60, 2_000);

        HttpResponse<String> first = send("t", producer, JSON, body);
        HttpResponse<String> again = send("t", producer, JSON, body);
        String after = next(first);
        HttpResponse<String> more = send("t", after, JSON, body);
        HttpResponse<String> moreAgain = send("t", after, JSON, body);

        assertThat(first.body()).contains("\"records\":60,");
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(more.body()).contains("\"records\":60,").isNotEqualTo(first.body());
        assertThat(moreAgain.body()).isEqualTo(more.body());
        assertThat(values("t", 3, 120)).hasSize(120);
    }

    @Test
    void shouldAppendARequestOnceWhenTheClientHasLeftBeforeTheResponse() throws Exception {
        broker.createTopic("t", 2, Map.of());
        String producer = producer("t");
        String body = document(40, 100);
        for (int attempt = 0; attempt < 3; attempt++) {
            try (Socket socket = gateway.connect()) {
                socket.getOutputStream()
                        .write(("POST /v1/topics/t/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + JSON
                                        + "\r\nContent-Length: " + body.length() + "\r\n" + PRODUCER + ": " + producer
                                        + "\r\n\r\n" + body)
                                .getBytes(ISO_8859_1));
            }
        }

        HttpResponse<String> last = send("t", producer, JSON, body);

        next(last);
        assertThat(last.body()).contains("\"records\":40,");
        assertThat(values("t", 2, 40)).hasSize(40).doesNotHaveDuplicates();
    }

    @Test
    void shouldAppendARequestOnceWhenItIsSentAgainAfterARestart() throws Exception {
        broker.createTopic("t", 2, Map.of());
        String producer = producer("t");
        HttpResponse<String> first = send("t", producer, JSON, document(10, 10));
        String second = next(first);
        HttpResponse<String> raw = send("t", second, BYTES, "raw");

        broker.stop();
        startBroker();

        assertThat(send("t", producer, JSON, document(10, 10)).body()).isEqualTo(first.body());
        assertThat(send("t", second, BYTES, "raw").body()).isEqualTo(raw.body());
        next(send("t", next(raw), BYTES, "more"));
        assertThat(values("t", 2, 12)).hasSize(12);
    }

    @Test
    void shouldAppendARequestOnceWhenEqualRequestsRunAtOnce() throws Exception {
        broker.createTopic("t", 2, Map.of("delivery.mode", "consistent", "max.message.bytes", "20000"));
        String producer = producer("t");
        String body = document(40, 2_000);
        int threads = 8;
        ExecutorService clients = Executors.newFixedThreadPool(threads);
        try {
            List<CompletableFuture<HttpResponse<String>>> responses = IntStream.range(0, threads)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return send("t", producer, JSON, body);
                                } catch (Exception failure) {
                                    throw new IllegalStateException(failure);
                                }
                            },
                            clients))
                    .toList();
            HttpResponse<String> first = responses.get(0).get(60, TimeUnit.SECONDS);

            assertThat(first.body()).contains("\"records\":40,");
            for (CompletableFuture<HttpResponse<String>> response : responses) {
                assertThat(response.get(60, TimeUnit.SECONDS).body()).isEqualTo(first.body());
            }
            assertThat(values("t", 2, 40)).hasSize(40).doesNotHaveDuplicates();
        } finally {
            clients.shutdown();
        }
    }

    @Test
    void shouldChooseTheSamePartitionsWhenTheTopicGotMoreBeforeTheRetry() throws Exception {
        broker.createTopic("t", 1, Map.of());
        String producer = producer("t");
        HttpResponse<String> first = send("t", producer, JSON, document(30, 10));
        try (Admin admin = broker.admin()) {
            admin.createPartitions(Map.of("t", NewPartitions.increaseTo(4)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }

        HttpResponse<String> again = send("t", producer, JSON, document(30, 10));
        HttpResponse<String> more = send("t", next(again), JSON, document(30, 10));

        assertThat(MAPPER.readTree(again.body()).get("offsets"))
                .isEqualTo(MAPPER.readTree(first.body()).get("offsets"));
        assertThat(MAPPER.readTree(more.body()).get("offsets")).hasSizeGreaterThan(1);
        assertThat(values("t", 4, 60)).hasSize(60);
    }

    @Test
    void shouldAppendCloudEventsOnceWhenTheyAreSentAgain() throws Exception {
        broker.createTopic("t", 1, Map.of());
        String event = "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\"}";
        String type = "application/cloudevents-batch+json";
        String producer = producer("t");

        HttpResponse<String> first = send("t", producer, type, "[" + event + "," + event + "]");
        HttpResponse<String> again = send("t", producer, type, "[" + event + "," + event + "]");

        assertThat(first.body()).contains("\"first\":0,\"last\":1}").contains("\"producer\":\"" + next(again) + "\"");
        assertThat(again.body()).isEqualTo(first.body());
    }

    /** A client goes back to an older state, and sends everything from there again. */
    @Test
    void shouldContinueBehindRepetitionsThatAreOlderThanWhatThePartitionRemembers() throws Exception {
        broker.createTopic("t", 1, Map.of());
        String first = producer("t");
        String producer = first;
        for (int i = 0; i < 20; i++) {
            producer = next(send("t", producer, BYTES, "value " + i));
        }

        String again = first;
        for (int i = 0; i < 21; i++) {
            again = next(send("t", again, BYTES, "value " + i));
        }

        assertThat(values("t", 1, 21))
                .containsExactlyElementsOf(
                        IntStream.range(0, 21).mapToObj(i -> "value " + i).toList());
    }

    @Test
    void shouldAppendNothingWhenTheProducerIsNotWhereTheRequestContinues() throws Exception {
        broker.createTopic("t", 1, Map.of());
        String producer = producer("t");
        String second = next(send("t", producer, BYTES, "first"));
        String third = next(send("t", second, BYTES, "second"));

        // the same place with other records, and one behind it
        HttpResponse<String> other = send("t", producer, JSON, "{\"records\":[{\"value\":\"a\"},{\"value\":\"b\"}]}");
        HttpResponse<String> gap = send("t", third.replaceAll("0:2$", "0:7"), BYTES, "late");

        for (HttpResponse<String> refused : List.of(other, gap)) {
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(422);
            assertThat(refused.body()).contains("records-refused").contains("one request at a time");
        }
        assertThat(values("t", 1, 2)).containsExactly("first", "second");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "1/0",
                "1/0/",
                "-1/0/1",
                "1/40000/1",
                "1/0/0",
                "1/0/2",
                "1/0/1/",
                "1/0/1/0",
                "1/0/1/0:",
                "1/0/1/0:1,0:2",
                "1/0/1/0:2147483648",
                "1/0/1/0:1/2",
                "99999999999999999999/0/1",
                "a/0/1"
            })
    void shouldRefuseWhatIsNoProducer(String producer) throws Exception {
        broker.createTopic("t", 1, Map.of());

        HttpResponse<String> response = send("t", producer, BYTES, "value");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).contains("invalid-parameter").contains(PRODUCER);
    }

    @Test
    void shouldRefuseWhatCannotBeRepeatedExactly() throws Exception {
        broker.createTopic("t", 300, Map.of("max.message.bytes", "10000"));
        String producer = producer("t");
        String manyBatches = "{\"records\":["
                + String.join(
                        ",",
                        java.util.Collections.nCopies(60, "{\"partition\":0,\"value\":\"" + "x".repeat(1_000) + "\"}"))
                + "]}";
        String manyPartitions = "{\"records\":["
                + String.join(
                        ",",
                        IntStream.range(0, 300)
                                .mapToObj(i -> "{\"partition\":" + i + ",\"value\":\"v\"}")
                                .toList())
                + "]}";

        HttpResponse<String> lines = send("t", producer, NDJSON, "{\"value\":\"v\"}\n");
        HttpResponse<String> batches = send("t", producer, "application/vnd.journalq.batch", "");
        HttpResponse<String> large = send("t", producer, JSON, manyBatches);
        HttpResponse<String> wide = send("t", producer, JSON, manyPartitions);

        assertThat(lines.statusCode()).isEqualTo(400);
        assertThat(lines.body()).contains("send application/json");
        assertThat(batches.statusCode()).isEqualTo(400);
        assertThat(large.statusCode()).as(large.body()).isEqualTo(413);
        assertThat(large.body()).contains("more than 5 batches");
        assertThat(wide.statusCode()).as(wide.body()).isEqualTo(400);
        assertThat(wide.body()).contains("256 partitions");
        assertThat(gateway.get("/v1/topics/t/records?partition=0").body()).contains("\"cursor\":\"0:0,only\"");
    }

    @Test
    void shouldGiveNoProducerToAClientThatMayNotWrite() throws Exception {
        broker.stop();
        broker.with("authorization.enabled", "true").with("super.users", "User:ANONYMOUS");
        startBroker();
        broker.createTopic("t", 1, Map.of());
        String producer = producer("t");
        try (Admin admin = broker.admin()) {
            admin.createAcls(List.of(new AclBinding(
                            new ResourcePattern(ResourceType.TOPIC, "t", PatternType.LITERAL),
                            new AccessControlEntry("User:ANONYMOUS", "*", AclOperation.READ, AclPermissionType.ALLOW))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
        broker.stop();
        broker.with("super.users", "User:root");
        startBroker();

        HttpResponse<String> created = gateway.post("/v1/topics/t/producers", JSON, "");
        HttpResponse<String> sent = send("t", producer, BYTES, "value");

        assertThat(created.statusCode()).as(created.body()).isEqualTo(403);
        assertThat(sent.statusCode()).as(sent.body()).isEqualTo(403);
        assertThat(gateway.get("/v1/topics/t/records").body()).contains("\"cursor\":\"0:0\"");
    }
}
