package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.JSON;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CloudEvents over HTTP become records of the Kafka binding, which Kafka's own consumer reads. */
@Timeout(120)
class GatewayCloudEventsTest {
    private static final String EVENT = "application/cloudevents+json";
    private static final String BATCH = "application/cloudevents-batch+json";

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic() throws Exception {
        topics++;
        broker.createTopic("t" + topics, 1, Map.of());
        return "t" + topics;
    }

    private static HttpResponse<String> post(String topic, String type, String body, String... headers)
            throws Exception {
        return gateway.post("/v1/topics/" + topic + "/records", type, body, headers);
    }

    private static List<ConsumerRecord<byte[], byte[]>> read(String topic, int count) {
        return broker.readAll(List.of(new TopicPartition(topic, 0)), count);
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new TreeMap<>();
        record.headers().forEach(header -> headers.put(header.key(), new String(header.value(), UTF_8)));
        return headers;
    }

    @Test
    void shouldKeepAttributesAsHeadersWhenAnEventIsInBinaryMode() throws Exception {
        String topic = topic();

        HttpResponse<String> response = post(
                topic,
                JSON,
                "{\"n\": 1}",
                "ce-specversion",
                "1.0",
                "CE-ID",
                "a 1",
                "ce-source",
                "/shop",
                "ce-type",
                "\"sold \\\"tea\\\"\"",
                "ce-subject",
                "Euro%20%E2%82%AC+",
                "ce-partitionkey",
                "k");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        ConsumerRecord<byte[], byte[]> record = read(topic, 1).get(0);
        assertThat(new String(record.key(), UTF_8)).isEqualTo("k");
        assertThat(new String(record.value(), UTF_8)).isEqualTo("{\"n\": 1}");
        assertThat(headers(record))
                .containsEntry("ce_specversion", "1.0")
                .containsEntry("ce_id", "a 1")
                .containsEntry("ce_source", "/shop")
                .containsEntry("ce_type", "sold \"tea\"")
                .containsEntry("ce_subject", "Euro €+")
                .containsEntry("content-type", JSON);
    }

    @Test
    void shouldStoreEventsAsTheyAreWhenTheyAreStructured() throws Exception {
        String topic = topic();
        String first = "{ \"specversion\" : \"1.0\", \"id\":\"1\", \"source\":\"/é\", \"type\":\"t\","
                + " \"partitionkey\":\"k\", \"data\": {\"id\": \"inner\", \"list\": [1.50]} }";
        String second =
                "{\"data_base64\":\"AA==\",\"type\":\"t\",\"source\":\"s\",\"id\":\"2\",\"specversion\":\"1.0\"}";

        assertThat(post(topic, EVENT + "; charset=UTF-8", " " + first + "\n").statusCode())
                .isEqualTo(200);
        HttpResponse<String> batch = post(topic, BATCH, "[ " + second + " ,\n" + first + "]");

        assertThat(batch.body()).contains("\"records\":2,", "{\"partition\":0,\"first\":1,\"last\":2}");
        List<ConsumerRecord<byte[], byte[]>> records = read(topic, 3);
        assertThat(records.stream().map(record -> new String(record.value(), UTF_8)))
                .containsExactly(first, second, first);
        assertThat(new String(records.get(0).key(), UTF_8)).isEqualTo("k");
        assertThat(records.get(1).key()).isNull();
        assertThat(headers(records.get(1))).containsEntry("content-type", EVENT + "; charset=UTF-8");
        assertThat(post(topic, BATCH, "[]").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "[GOOD, 7]",
                "[GOOD, {}]",
                "[GOOD, GOOD",
                "[GOOD] 1",
                "[GOOD, {\"specversion\":\"0.3\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}]",
                "[GOOD, {\"specversion\":\"1.0\",\"id\":\"\",\"source\":\"s\",\"type\":\"t\"}]",
                "[GOOD, {\"specversion\":\"1.0\",\"id\":1,\"source\":\"s\",\"type\":\"t\"}]",
                "[GOOD, {\"id\":\"1\",\"id\":\"2\",\"specversion\":\"1.0\",\"source\":\"s\",\"type\":\"t\"}]",
                "[GOOD, {\"partitionkey\":\"\\uD800\",\"id\":\"1\",\"specversion\":\"1.0\",\"source\":\"s\","
                        + "\"type\":\"t\"}]"
            })
    void shouldAppendNothingWhenAnEventIsInvalid(String body) throws Exception {
        String topic = topic();
        String good = "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}";
        String text = body.replace("GOOD", good);

        HttpResponse<String> response = post(topic, text.equals("[]") ? EVENT : BATCH, text);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(post(topic, EVENT, good).body()).contains("\"first\":0,");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16LE", "UTF-16BE", "UTF-16", "UTF-32LE", "UTF-32BE"})
    void shouldRefuseAnEventThatIsNotUtf8(String charset) throws Exception {
        String topic = topic();
        byte[] event = "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}".getBytes(charset);

        HttpResponse<String> response =
                gateway.post("/v1/topics/" + topic + "/records", EVENT, BodyPublishers.ofByteArray(event));

        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).contains("not UTF-8");
    }

    @Test
    void shouldRefuseABinaryEventWhenAnAttributeIsMissingOrMalformed() throws Exception {
        String topic = topic();
        assertThat(post(topic, JSON, "x", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "s")
                        .body())
                .contains("has no \\\"type\\\"");
        assertThat(post(topic, JSON, "x", "ce-specversion", "1.0", "ce-id", "%", "ce-source", "s", "ce-type", "t")
                        .statusCode())
                .isEqualTo(400);
        assertThat(post(topic, EVENT, " ".repeat(2 << 20)).statusCode()).isEqualTo(413);
    }
}
