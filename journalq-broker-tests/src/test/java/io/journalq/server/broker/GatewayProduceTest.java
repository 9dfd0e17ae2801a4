package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static io.journalq.server.broker.GatewayClient.JSON;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Produce over HTTP, read back with Kafka's own consumer. */
@Timeout(120)
class GatewayProduceTest {
    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shards", "2")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(int partitions) throws Exception {
        return topic(partitions, Map.of());
    }

    private static String topic(int partitions, Map<String, String> configs) throws Exception {
        topics++;
        String name = "t" + topics;
        broker.createTopic(name, partitions, configs);
        return name;
    }

    private static String records(String topic) {
        return "/v1/topics/" + topic + "/records";
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

    @ParameterizedTest
    @ValueSource(strings = {"consistent", "performance", "eventual"})
    void shouldAppendARawBodyWithItsHeadersInEachDeliveryMode(String mode) throws Exception {
        String topic = topic(2, Map.of("delivery.mode", mode));

        HttpResponse<String> response = gateway.post(
                records(topic),
                "image/png",
                "value",
                "JQ-Key",
                "key",
                "JQ-Partition",
                "1",
                "JQ-Timestamp",
                "1700000000000",
                "JQ-Header-trace",
                "abc");

        assertThat(response.body())
                .isEqualTo("{\"topic\":\"" + topic
                        + "\",\"records\":1,\"offsets\":[{\"partition\":1,\"first\":0,\"last\":0}]}\n");
        assertThat(response.statusCode()).isEqualTo(200);
        ConsumerRecord<byte[], byte[]> record = read(topic, 2, 1).get(0);
        assertThat(text(record.key())).isEqualTo("key");
        assertThat(text(record.value())).isEqualTo("value");
        assertThat(record.partition()).isEqualTo(1);
        assertThat(record.timestamp()).isEqualTo(1_700_000_000_000L);
        assertThat(text(record.headers().lastHeader("trace").value())).isEqualTo("abc");
    }

    @Test
    void shouldAppendLargeRawBodiesWholeWhenTheTopicAllowsThem() throws Exception {
        String topic = topic(1, Map.of("max.message.bytes", "20000000"));
        byte[] value = new byte[10_000_000];
        new java.util.Random(1).nextBytes(value);

        assertThat(gateway.post(records(topic), BYTES, BodyPublishers.ofByteArray(value))
                        .statusCode())
                .isEqualTo(200);
        assertThat(read(topic, 1, 1).get(0).value()).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(strings = {"consistent", "performance", "eventual"})
    void shouldAppendAWholeDocumentWhenItIsLargerThanABatch(String mode) throws Exception {
        String topic = topic(2, Map.of("delivery.mode", mode));
        String record = "{\"partition\":1,\"value\":\"" + "x".repeat(10_000) + "\"}";

        HttpResponse<String> response =
                gateway.post(records(topic), JSON, "{\"records\":[" + (record + ",").repeat(399) + record + "]}");

        assertThat(response.body()).contains("\"records\":400,", "{\"partition\":1,\"first\":0,\"last\":399}");
        assertThat(read(topic, 2, 400)).hasSize(400);
    }

    @Test
    void shouldRefuseARecordWhenItsPartsTogetherAreLargerThan1MiB() throws Exception {
        String topic = topic(1, Map.of("max.message.bytes", "20000000"));
        String header = "{\"name\":\"h\",\"value\":\"" + "x".repeat(100_000) + "\"}";
        String record = "{\"value\":\"v\",\"headers\":[" + (header + ",").repeat(10) + header + "]}";

        HttpResponse<String> line = gateway.post(records(topic), NDJSON, record + "\n");
        HttpResponse<String> document = gateway.post(records(topic), JSON, "{\"records\":[" + record + "]}");

        assertThat(line.statusCode()).isEqualTo(413);
        assertThat(document.statusCode()).isEqualTo(413);
        assertThat(document.body()).contains("record-too-large").contains("1 MiB");
    }

    @Test
    void shouldSayWhatWasAppendedWhenTheBodyOfLinesIsCutShort() throws Exception {
        String topic = topic(1);
        try (Socket socket = gateway.connect()) {
            String line = "{\"value\":\"first\"}\n{\"value\":\"second\"}\n{\"val";
            socket.getOutputStream()
                    .write(("POST " + records(topic) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + NDJSON
                                    + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    + Integer.toHexString(line.length()) + "\r\n" + line + "\r\nno number\r\n")
                            .getBytes(ISO_8859_1));

            assertThat(GatewayClient.readAll(socket))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("malformed-request")
                    .contains("\"records\":2,\"offsets\":[{\"partition\":0,\"first\":0,\"last\":1}]");
        }
        assertThat(read(topic, 1, 2)).hasSize(2);
    }

    @Test
    void shouldSayThatARecordIsTooLargeWhenTheTopicRefusesIt() throws Exception {
        String topic = topic(1, Map.of("max.message.bytes", "1000"));

        HttpResponse<String> response = gateway.post(records(topic), BYTES, "x".repeat(2_000));

        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(response.body()).contains("record-too-large").contains("max.message.bytes");
    }

    @Test
    void shouldRefuseARawBodyBeforeItIsReadWhenTheTopicCannotHoldIt() throws Exception {
        String topic = topic(1);
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream()
                    .write(("POST " + records(topic) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + BYTES
                                    + "\r\nContent-Length: 60000000\r\nExpect: 100-continue\r\n\r\n")
                            .getBytes(ISO_8859_1));

            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void shouldPutKeysWhereKafkasProducerPutsThemWhenNoPartitionIsGiven() throws Exception {
        // given
        String topic = topic(7);
        StringBuilder lines = new StringBuilder();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 100; i++) {
                var unused = producer.send(
                        new ProducerRecord<>(topic, ("key-" + i).getBytes(UTF_8), "kafka".getBytes(UTF_8)));
                lines.append("{\"key\":\"key-").append(i).append("\",\"value\":\"http\"}\n");
            }
        }

        // when
        assertThat(gateway.post(records(topic), NDJSON, lines.toString()).statusCode())
                .isEqualTo(200);
        assertThat(gateway.post(records(topic), BYTES, "http", "JQ-Key", "key-0")
                        .statusCode())
                .isEqualTo(200);

        // then
        Map<String, Integer> partitions = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : read(topic, 7, 201)) {
            assertThat(partitions.merge(text(record.key()), record.partition(), (a, b) -> a.equals(b) ? a : -1))
                    .as(text(record.key()))
                    .isNotNegative();
        }
        assertThat(partitions).hasSize(100);
    }

    @Test
    void shouldAppendADocumentOfRecordsWhenItIsValid() throws Exception {
        String topic = topic(1);

        HttpResponse<String> response = gateway.post(
                records(topic),
                JSON,
                """
                {"records": [
                  {"key": "a", "value": "text é 😀"},
                  {"keyBase64": "AAE=", "valueBase64": "/w==", "partition": 0, "timestamp": 5},
                  {"value": {"n": 1.50, "list": [true, null, "x"], "big": 123456789012345678901234567890}},
                  {"key": "gone", "value": null},
                  {"value": 7, "headers": [{"name": "h", "value": "1"}, {"name": "h", "valueBase64": "Ag=="}]}
                ]}
                """);

        assertThat(response.body()).contains("\"records\":5", "{\"partition\":0,\"first\":0,\"last\":4}");
        List<ConsumerRecord<byte[], byte[]>> read = read(topic, 1, 5);
        assertThat(text(read.get(0).value())).isEqualTo("text é 😀");
        assertThat(read.get(1).key()).containsExactly(0, 1);
        assertThat(read.get(1).value()).containsExactly(0xff);
        assertThat(read.get(1).timestamp()).isEqualTo(5);
        assertThat(text(read.get(2).value()))
                .isEqualTo("{\"n\":1.50,\"list\":[true,null,\"x\"],\"big\":123456789012345678901234567890}");
        assertThat(read.get(3).value()).isNull();
        assertThat(text(read.get(4).value())).isEqualTo("7");
        assertThat(read.get(4).headers()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"records\": [{\"value\": \"good\"}",
                "{\"records\": [{\"value\": \"good\"}]",
                "{\"records\": [{\"value\": \"good\"}]} x",
                "{\"records\": [{\"value\": \"good\"}]} {}",
                "{\"records\": [{\"value\": \"good\"}], \"more\": 1}",
                "{\"records\": [{\"value\": \"good\"}, 7]}",
                "{\"records\": [{\"value\": \"good\"}, {\"vlaue\": \"typo\"}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"value\": \"a\", \"valueBase64\": \"AA==\"}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"valueBase64\": \"%\"}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"value\": \"\\ud800\"}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"partition\": -1}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"partition\": 0, \"partition\": 0}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"headers\": [], \"headers\": []}]}",
                "{\"records\": [{\"value\": \"good\"}, {\"headers\": [{\"name\": \"a\", \"name\": \"b\"}]}]}",
                "{\"records\": {}}",
                "[]",
                "{}",
                ""
            })
    void shouldAppendNothingWhenADocumentDoesNotParseToItsEnd(String document) throws Exception {
        String topic = topic(1);

        HttpResponse<String> response = gateway.post(records(topic), JSON, document);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).contains("invalid-body").contains("\"remedy\"");
        gateway.post(records(topic), BYTES, "first");
        assertThat(text(read(topic, 1, 1).get(0).value())).isEqualTo("first");
    }

    @Test
    void shouldAppendLinesAsTheyArriveWhenTheBodyIsNdjson() throws Exception {
        String topic = topic(1);
        try (Socket socket = gateway.connect()) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST " + records(topic) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + NDJSON
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(ISO_8859_1));
            // when only the first line has been sent, and a part of the second
            String line = "{\"value\":\"first\"}\n{\"val";
            out.write((Integer.toHexString(line.length()) + "\r\n" + line + "\r\n").getBytes(ISO_8859_1));
            // then it can be read
            assertThat(text(read(topic, 1, 1).get(0).value())).isEqualTo("first");
            String rest = "ue\":\"second\"}";
            out.write((Integer.toHexString(rest.length()) + "\r\n" + rest + "\r\n0\r\n\r\n").getBytes(ISO_8859_1));
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");
        }
        assertThat(read(topic, 1, 2)).hasSize(2);
    }

    @Test
    void shouldSayWhatWasAppendedWhenALineIsInvalid() throws Exception {
        String topic = topic(1);

        HttpResponse<String> response = gateway.post(
                records(topic), NDJSON, "{\"value\":\"a\"}\n{\"value\":\"b\"}\n{oops}\n{\"value\":\"c\"}\n");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("line 3").contains("{\"partition\":0,\"first\":0,\"last\":1}");
        assertThat(read(topic, 1, 2)).hasSize(2);
    }

    @Test
    void shouldKeepTheOrderOfAPartitionWhenManyLinesAreSent() throws Exception {
        String topic = topic(3);
        int count = 60_000;
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append("{\"key\":\"")
                    .append(i % 10)
                    .append("\",\"value\":\"")
                    .append(i)
                    .append("\"}\n");
        }

        HttpResponse<String> response = gateway.post(records(topic), NDJSON, lines.toString());

        assertThat(response.body()).contains("\"records\":" + count);
        Map<Integer, Integer> last = new HashMap<>();
        List<ConsumerRecord<byte[], byte[]>> read = read(topic, 3, count);
        assertThat(read).hasSize(count);
        for (ConsumerRecord<byte[], byte[]> record : read) {
            int number = Integer.parseInt(text(record.value()));
            assertThat(number).isGreaterThan(last.getOrDefault(record.partition(), -1));
            last.put(record.partition(), number);
        }
    }

    @Test
    void shouldDecompressABodyWhenItIsGzip() throws Exception {
        String topic = topic(1);
        byte[] document = "{\"records\":[{\"value\":\"zipped\"}]}".getBytes(UTF_8);

        HttpResponse<String> response = gateway.post(
                records(topic),
                JSON,
                BodyPublishers.ofByteArray(GatewayClient.gzip(document)),
                "Content-Encoding",
                "gzip");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(text(read(topic, 1, 1).get(0).value())).isEqualTo("zipped");
    }

    @Test
    void shouldRefuseABodyWhenItExpandsBeyond64MiB() throws Exception {
        String topic = topic(1);
        byte[] bomb = GatewayClient.gzip(" ".repeat(70 << 20).getBytes(UTF_8));

        HttpResponse<String> response =
                gateway.post(records(topic), NDJSON, BodyPublishers.ofByteArray(bomb), "Content-Encoding", "gzip");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(413);
    }

    @Test
    void shouldRefuseABodyWhenItsGzipIsDamaged() throws Exception {
        String topic = topic(1);
        byte[] whole = GatewayClient.gzip("value".getBytes(UTF_8));
        List<byte[]> damaged = new ArrayList<>();
        damaged.add("no gzip at all".getBytes(UTF_8));
        damaged.add(java.util.Arrays.copyOf(whole, whole.length - 1));
        damaged.add(java.util.Arrays.copyOf(whole, whole.length + 1));
        byte[] wrongSum = whole.clone();
        wrongSum[wrongSum.length - 5] ^= 1;
        damaged.add(wrongSum);
        for (byte[] body : damaged) {
            HttpResponse<String> response =
                    gateway.post(records(topic), BYTES, BodyPublishers.ofByteArray(body), "Content-Encoding", "gzip");
            assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        }
    }

    @Test
    void shouldNameTheRemedyWhenTheTopicOrThePartitionDoesNotExist() throws Exception {
        String topic = topic(1);

        HttpResponse<String> noTopic = gateway.post(records("nothing"), BYTES, "x");
        HttpResponse<String> noPartition = gateway.post(records(topic), BYTES, "x", "JQ-Partition", "1");
        HttpResponse<String> internal = gateway.post(records("__consumer_offsets"), BYTES, "x");

        assertThat(noTopic.statusCode()).isEqualTo(404);
        assertThat(noTopic.body()).contains("unknown-topic").contains("create the topic");
        assertThat(noPartition.statusCode()).isEqualTo(404);
        assertThat(noPartition.body()).contains("unknown-partition");
        assertThat(internal.statusCode()).isIn(404, 422);
    }

    @Test
    void shouldRefuseRequestsWhenTheClientHasUsedUpItsQuota() throws Exception {
        // given
        String topic = topic(1);
        try (Admin admin = broker.admin()) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, "limited")),
                            List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1_000.0)))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }

        // when
        HttpResponse<String> first = gateway.post(records(topic), BYTES, "x".repeat(20_000), "JQ-Client-Id", "limited");
        HttpResponse<String> second =
                new GatewayClient(broker.gatewayPort()).post(records(topic), BYTES, "x", "JQ-Client-Id", "limited");

        // then
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(second.statusCode()).isEqualTo(429);
        assertThat(Integer.parseInt(second.headers().firstValue("Retry-After").orElseThrow()))
                .isBetween(10, 30);
        assertThat(gateway.post(records(topic), BYTES, "x", "JQ-Client-Id", "other")
                        .statusCode())
                .isEqualTo(200);
    }

    /** Replicas have left, the leader has changed, or its disk has failed after the leader has appended the records. */
    @ParameterizedTest
    @CsvSource({
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND, 504",
        "NOT_LEADER_OR_FOLLOWER, 503",
        "KAFKA_STORAGE_ERROR, 503",
    })
    void shouldSayThatRecordsMayHaveBeenAppended(ErrorCode error, int status, @TempDir Path data) throws Exception {
        try (TestBroker other =
                new TestBroker(data).with("gateway.listener", "127.0.0.1:0").start()) {
            other.createTopic("t", 1, Map.of());
            other.handlers().replace(ApiKey.PRODUCE, handler -> new FailedAppends(handler.api(), error));

            HttpResponse<String> response = new GatewayClient(other.gatewayPort()).post(records("t"), BYTES, "x");

            assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
            assertThat(response.body()).contains("may have been appended");
        }
    }

    private record FailedAppends(ServedApi api, ErrorCode error) implements Handler<ProduceRequest> {
        @Override
        public void handle(RequestContext context, ProduceRequest request) {
            context.respond(new ProduceResponse()
                    .setResponses(List.of(new ProduceResponse.TopicProduceResponse()
                            .setName("t")
                            .setPartitionResponses(List.of(
                                    new ProduceResponse.PartitionProduceResponse().setErrorCode(error.code()))))));
        }
    }
}
