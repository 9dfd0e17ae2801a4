package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Produce over HTTP in the conventions of Confluent's REST proxy, read back with Kafka's own consumer. */
@Timeout(120)
class GatewayConfluentTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String JSON_V2 = "application/vnd.kafka.json.v2+json";
    private static final String BINARY_V2 = "application/vnd.kafka.binary.v2+json";
    private static final String JSON = "application/json";

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("auto.create.topics.enable", "false")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(int partitions, Map<String, String> configs) throws Exception {
        topics++;
        String name = "t" + topics;
        broker.createTopic(name, partitions, configs);
        return name;
    }

    private static List<ConsumerRecord<byte[], byte[]>> read(String topic, int partitions, int count) {
        return broker.readAll(
                IntStream.range(0, partitions)
                        .mapToObj(partition -> new TopicPartition(topic, partition))
                        .toList(),
                count);
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, UTF_8);
    }

    private static String v3(String topic) {
        return "/v3/clusters/any/topics/" + topic + "/records";
    }

    private static List<JsonNode> objects(String body) throws Exception {
        try (MappingIterator<JsonNode> all = MAPPER.readerFor(JsonNode.class).readValues(body)) {
            return all.readAll();
        }
    }

    private static void assertError(HttpResponse<String> response, int status, int code) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        JsonNode error = MAPPER.readTree(response.body());
        assertThat(error.get("error_code").asInt()).as(response.body()).isEqualTo(code);
        assertThat(error.get("message").asText()).isNotBlank();
        assertThat(error.get("type")).as("no problem document").isNull();
    }

    @Test
    void shouldAppendJsonAsItWasSentOverV2() throws Exception {
        String topic = topic(3, Map.of());

        HttpResponse<String> response = gateway.post(
                "/topics/" + topic,
                JSON_V2,
                "{\"records\":[{\"key\": \"k\", \"value\": {\"a\" : [1, \"x}\\\"\"]},\"partition\":2},"
                        + "{\"value\":-1.5e3 ,\"partition\":2},{\"value\":\"text\",\"partition\":2},"
                        + "{\"key\":17,\"value\":null,\"partition\":1}]}");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/vnd.kafka.v2+json");
        assertThat(response.body())
                .isEqualTo("{\"offsets\":[{\"partition\":2,\"offset\":0,\"error_code\":null,\"error\":null},"
                        + "{\"partition\":2,\"offset\":1,\"error_code\":null,\"error\":null},"
                        + "{\"partition\":2,\"offset\":2,\"error_code\":null,\"error\":null},"
                        + "{\"partition\":1,\"offset\":0,\"error_code\":null,\"error\":null}],"
                        + "\"key_schema_id\":null,\"value_schema_id\":null}\n");
        List<ConsumerRecord<byte[], byte[]>> records = read(topic, 3, 4);
        assertThat(records.stream().filter(record -> record.partition() == 2).map(record -> text(record.value())))
                .containsExactly("{\"a\" : [1, \"x}\\\"\"]}", "-1.5e3", "\"text\"");
        assertThat(records.stream().filter(record -> record.partition() == 2).findFirst())
                .get()
                .satisfies(record -> assertThat(text(record.key())).isEqualTo("\"k\""));
        assertThat(records.stream().filter(record -> record.partition() == 1))
                .singleElement()
                .satisfies(record -> {
                    assertThat(text(record.key())).isEqualTo("17");
                    assertThat(record.value()).isNull();
                });
    }

    @Test
    void shouldAppendBytesOverV2ToThePartitionOfThePathOrTheKey() throws Exception {
        String topic = topic(2, Map.of());

        HttpResponse<String> first = gateway.post(
                "/topics/" + topic + "/partitions/1",
                BINARY_V2,
                "{\"records\":[{\"key\":\"/wE=\",\"value\":\"AAEC\"}]}");
        HttpResponse<String> second =
                gateway.post("/topics/" + topic, BINARY_V2, "{\"records\":[{\"key\":\"azE=\",\"value\":null}]}");

        assertThat(first.body()).contains("{\"partition\":1,\"offset\":0,");
        assertThat(second.statusCode()).as(second.body()).isEqualTo(200);
        List<ConsumerRecord<byte[], byte[]>> records = read(topic, 2, 2);
        assertThat(records.stream().filter(record -> record.value() != null))
                .singleElement()
                .satisfies(record -> {
                    assertThat(record.key()).containsExactly(0xff, 1);
                    assertThat(record.value()).containsExactly(0, 1, 2);
                });
    }

    @Test
    void shouldAppendManyRecordsOverV2InSeveralBatchesOfAPartition() throws Exception {
        String topic = topic(1, Map.of("max.message.bytes", "5000"));
        String record = "{\"value\":\"" + "x".repeat(1_000) + "\"}";

        HttpResponse<String> response =
                gateway.post("/topics/" + topic, JSON_V2, "{\"records\":[" + (record + ",").repeat(99) + record + "]}");

        JsonNode offsets = MAPPER.readTree(response.body()).get("offsets");
        assertThat(IntStream.range(0, 100)
                        .map(i -> offsets.get(i).get("offset").asInt())
                        .toArray())
                .containsExactly(IntStream.range(0, 100).toArray());
        assertThat(read(topic, 1, 100)).hasSize(100);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"records\":[]}",
                "{\"records\":[{\"value\":1}]} x",
                "{\"records\":[{\"value\":1},{\"value\":",
                "{\"records\":[{\"value\":1},{\"valeu\":2}]}",
                "{\"records\":[{\"value\":1},{\"partition\":\"0\"}]}",
                "{\"records\":[{\"value\":1},{\"partition\":4294967296}]}",
                "{\"records\":[{\"value\":1},7]}",
                "{\"records\":[{\"value\":1,\"value\":2}]}",
                "{\"value_schema\":\"{}\",\"records\":[{\"value\":1}]}"
            })
    void shouldAppendNothingWhenABodyOfV2IsInvalid(String body) throws Exception {
        String topic = topic(1, Map.of());

        assertError(gateway.post("/topics/" + topic, JSON_V2, body), 400, 400);

        assertThat(gateway.get("/v1/topics/" + topic + "/records").body()).contains("\"cursor\":\"0:0\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16LE", "UTF-16BE", "UTF-16", "UTF-32LE", "UTF-32BE"})
    void shouldRefuseABodyOfV2ThatIsNotUtf8(String charset) throws Exception {
        String topic = topic(1, Map.of());
        byte[] body = "{\"records\":[{\"value\":1}]}".getBytes(charset);

        assertError(gateway.post("/topics/" + topic, JSON_V2, BodyPublishers.ofByteArray(body)), 400, 400);
    }

    @ParameterizedTest
    @CsvSource({
        "/topics/none, json.v2, 1, 404, 40401",
        "/topics/TOPIC/partitions/9, json.v2, 1, 404, 40402",
        "/topics/TOPIC/partitions/x, json.v2, 1, 404, 40402",
        "/topics/TOPIC, avro.v2, 1, 415, 415",
        "/topics/TOPIC, binary.v2, 1, 400, 400",
        "/topics/TOPIC, binary.v2, '\"?\"', 400, 400",
        "/topics/__consumer_offsets, json.v2, 1, 404, 40401"
    })
    void shouldRefuseRequestsOfV2WithConfluentsErrorCodes(
            String path, String format, String value, int status, int code) throws Exception {
        String topic = topic(1, Map.of());

        HttpResponse<String> response = gateway.post(
                path.replace("TOPIC", topic),
                "application/vnd.kafka." + format + "+json",
                "{\"records\":[{\"value\":" + value + "}]}");

        assertError(response, status, code);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/vnd.kafka.v2+json");
    }

    @Test
    void shouldSayWhichRecordsTheBrokerHasRefused() throws Exception {
        String topic = topic(1, Map.of("cleanup.policy", "compact"));

        HttpResponse<String> v2 = gateway.post("/topics/" + topic, JSON_V2, "{\"records\":[{\"value\":1}]}");
        HttpResponse<String> v3 =
                gateway.post(v3(topic), JSON, "{\"value\":{\"type\":\"STRING\",\"data\":\"no key\"}}");

        JsonNode first = MAPPER.readTree(v2.body()).get("offsets").get(0);
        assertThat(v2.statusCode()).isEqualTo(200);
        assertThat(first.get("error_code").asInt()).isEqualTo(1);
        assertThat(first.get("offset").isNull()).isTrue();
        assertThat(objects(v3.body())).singleElement().satisfies(result -> assertThat(
                        result.get("error_code").asInt())
                .isEqualTo(50_002));
    }

    @Test
    void shouldAppendRecordsOfEachFormatOverV3() throws Exception {
        String topic = topic(2, Map.of());

        HttpResponse<String> response = gateway.post(
                v3(topic),
                JSON,
                "{\"partition_id\":1,\"key\":{\"type\":\"BINARY\",\"data\":\"/wE=\"},\"value\":{\"data\":{\"a\": 1},"
                        + "\"type\":\"JSON\"},\"headers\":[{\"name\":\"h\",\"value\":\"AQ==\"}],"
                        + "\"timestamp\":\"2026-01-31T13:00:00+01:00\"}"
                        + "\n{\"partition_id\":1,\"value\":{\"type\":\"STRING\",\"data\":\"é\"}} "
                        + "{\"partition_id\":1,\"key\":{\"type\":\"STRING\",\"data\":\"k\"},\"value\":null}");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        List<JsonNode> results = objects(response.body());
        assertThat(results).hasSize(3);
        JsonNode first = results.get(0);
        assertThat(first.get("error_code").asInt()).isEqualTo(200);
        assertThat(first.get("topic_name").asText()).isEqualTo(topic);
        assertThat(first.get("cluster_id").asText()).isNotBlank();
        assertThat(first.get("timestamp").asText()).isEqualTo("2026-01-31T12:00:00Z");
        assertThat(first.get("key").toString()).isEqualTo("{\"type\":\"BINARY\",\"size\":2}");
        assertThat(first.get("value").toString()).isEqualTo("{\"type\":\"JSON\",\"size\":8}");
        assertThat(results.stream().map(result -> result.get("offset").asInt())).containsExactly(0, 1, 2);
        List<ConsumerRecord<byte[], byte[]>> records = read(topic, 2, 3);
        assertThat(records.stream().map(record -> text(record.value()))).containsExactly("{\"a\": 1}", "é", null);
        assertThat(records.get(0).headers().lastHeader("h").value()).containsExactly(1);
        assertThat(records.get(0).timestamp()).isEqualTo(1_769_860_800_000L);
        assertThat(text(records.get(2).key())).isEqualTo("k");
    }

    @Test
    void shouldGiveEachRecordOfAStreamItsResultWhileTheNextOnesHaveNotArrived() throws Exception {
        String topic = topic(1, Map.of());
        try (Socket socket = gateway.connect()) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST " + v3(topic) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + JSON
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(ISO_8859_1));
            // a record in two parts, and one that is not valid
            chunk(out, "{\"value\":{\"type\":\"STRING\",\"da");
            chunk(out, "ta\":\"one}\"}}");
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");
            assertThat(readUntil(socket, "}}\n")).contains("\"error_code\":200", "\"offset\":0");
            chunk(out, "{\"value\":{\"type\":\"AVRO\",\"data\":1}}{\"value\":{\"type\":\"STRING\",\"data\":\"two\"}}");
            assertThat(readUntil(socket, "}}\n")).contains("\"error_code\":400", "\"offset\":1");
            out.write("0\r\n\r\n".getBytes(ISO_8859_1));
            assertThat(readUntil(socket, "\r\n0\r\n\r\n")).doesNotContain("error_code");
        }
        assertThat(read(topic, 1, 2).stream().map(record -> text(record.value())))
                .containsExactly("one}", "two");
    }

    private static void chunk(OutputStream out, String text) throws Exception {
        out.write((Integer.toHexString(text.length()) + "\r\n" + text + "\r\n").getBytes(ISO_8859_1));
    }

    private static String readUntil(Socket socket, String end) throws Exception {
        StringBuilder text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            int next = socket.getInputStream().read();
            assertThat(next).as(text.toString()).isNotNegative();
            text.append((char) next);
        }
        return text.toString();
    }

    @Test
    void shouldAppendALargeBodyOverV3WithItsResultsInOrder() throws Exception {
        String topic = topic(3, Map.of());
        int count = 5_000;
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < count; i++) {
            body.append("{\"partition_id\":").append(i % 3);
            body.append(",\"value\":{\"type\":\"STRING\",\"data\":\"")
                    .append("x".repeat(200))
                    .append("\"}}");
        }

        List<JsonNode> results =
                objects(gateway.post(v3(topic), JSON, body.toString()).body());

        assertThat(results).hasSize(count);
        int[] next = new int[3];
        for (int i = 0; i < count; i++) {
            JsonNode result = results.get(i);
            assertThat(result.get("partition_id").asInt()).isEqualTo(i % 3);
            assertThat(result.get("offset").asInt()).isEqualTo(next[i % 3]++);
        }
        assertThat(Arrays.stream(next).sum()).isEqualTo(count);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[] | 400",
                "x | 400",
                "{\"value\": | 400",
                "{\"value\":{\"type\":\"BINARY\",\"data\":\"?\"}} | 400",
                "{\"partition_id\":9} | 40402",
                "{\"timestamp\":\"now\"} | 400",
                "{\"value\":{\"data\":1}} | 400",
                "{\"key\":{\"type\":\"STRING\",\"data\":\"a\\uD800\"}} | 400",
                "{\"headers\":[{\"name\":\"\\uDC00a\",\"value\":null}]} | 400",
                "{]} | 400"
            })
    void shouldRefuseARecordOfV3WithItsReason(String body, int code) throws Exception {
        String topic = topic(1, Map.of());

        HttpResponse<String> response = gateway.post(v3(topic), JSON, body);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(objects(response.body())).singleElement().satisfies(result -> assertThat(
                        result.get("error_code").asInt())
                .as(response.body())
                .isEqualTo(code));
    }

    @Test
    void shouldBoundWhatABodyOfV3Needs() throws Exception {
        String topic = topic(1, Map.of("max.message.bytes", "20000000"));
        String large = "{\"value\":{\"type\":\"STRING\",\"data\":\"" + "x".repeat(1_100_000) + "\"}}";

        HttpResponse<String> tooLarge = gateway.post(v3(topic), JSON, large);
        HttpResponse<String> deep = gateway.post(
                v3(topic), JSON, "{\"value\":{\"type\":\"JSON\",\"data\":" + "[".repeat(500) + "]".repeat(500) + "}}");
        HttpResponse<String> largeV2 = gateway.post(
                "/topics/" + topic, JSON_V2, "{\"records\":[{\"value\":\"" + "x".repeat(1_100_000) + "\"}]}");

        assertThat(objects(tooLarge.body())).singleElement().satisfies(result -> assertThat(
                        result.get("error_code").asInt())
                .isEqualTo(413));
        assertThat(objects(deep.body())).singleElement().satisfies(result -> assertThat(
                        result.get("error_code").asInt())
                .isEqualTo(400));
        assertError(largeV2, 413, 413);
        assertThat(gateway.get("/v1/topics/" + topic + "/records").body()).contains("\"cursor\":\"0:0\"");
    }

    /** The partition takes its time. */
    @Test
    void shouldNotReadOnWhileManyRecordsThatAreNotValidWaitForOthers(@TempDir Path data) throws Exception {
        try (TestBroker other =
                new TestBroker(data).with("gateway.listener", "127.0.0.1:0").start()) {
            other.createTopic("t", 1, Map.of());
            Queue<Runnable> held = new ConcurrentLinkedQueue<>();
            other.handlers().replace(ApiKey.PRODUCE, before -> new HeldAppends(before, held));
            String invalid = "{\"wrong\":\"" + "x".repeat(100) + "\"}";
            try (Socket socket = new GatewayClient(other.gatewayPort()).connect()) {
                OutputStream out = socket.getOutputStream();
                out.write(("POST " + v3("t") + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + JSON
                                + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                        .getBytes(ISO_8859_1));
                chunk(out, "{\"value\":{\"type\":\"STRING\",\"data\":\"one\"}}");
                other.await(() -> !held.isEmpty());

                AtomicInteger chunks = new AtomicInteger();
                CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                    try {
                        for (int i = 0; i < 150; i++) {
                            chunk(out, invalid.repeat(1_000));
                            chunks.incrementAndGet();
                        }
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                });
                int before = -1;
                while (chunks.get() != before || before == 0) {
                    before = chunks.get();
                    Thread.sleep(1_000);
                }
                assertThat(sent).isNotDone();

                held.remove().run();
                assertThat(readUntil(socket, "\"offset\":0,")).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    /** Keeps appends until the test lets them go on. */
    private record HeldAppends(Handler<?> handler, Queue<Runnable> held) implements Handler<ProduceRequest> {
        @Override
        public ServedApi api() {
            return handler.api();
        }

        @Override
        @SuppressWarnings("unchecked") // it is the handler of the same API
        public void handle(RequestContext context, ProduceRequest request) {
            held.add(() -> context.cycle().execute(() -> ((Handler<ProduceRequest>) handler).handle(context, request)));
        }
    }

    @Test
    void shouldRefuseAClientThatMayNotWrite(@TempDir Path closed) throws Exception {
        try (TestBroker other = new TestBroker(closed)
                .with("gateway.listener", "127.0.0.1:0")
                .with("authorization.enabled", "true")
                .with("super.users", "User:root")
                .start()) {
            GatewayClient client = new GatewayClient(other.gatewayPort());

            assertError(client.post("/topics/t", JSON_V2, "{\"records\":[{\"value\":1}]}"), 403, 40301);
            assertError(client.post(v3("t"), JSON, "{}"), 403, 40301);
        }
    }
}
