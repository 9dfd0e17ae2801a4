package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.NDJSON;
import static io.journalq.server.broker.RawWebSocket.BATCH;
import static io.journalq.server.broker.RawWebSocket.BINARY;
import static io.journalq.server.broker.RawWebSocket.CLOSE;
import static io.journalq.server.broker.RawWebSocket.CONTINUATION;
import static io.journalq.server.broker.RawWebSocket.JSON;
import static io.journalq.server.broker.RawWebSocket.LAST;
import static io.journalq.server.broker.RawWebSocket.PING;
import static io.journalq.server.broker.RawWebSocket.PONG;
import static io.journalq.server.broker.RawWebSocket.TEXT;
import static io.journalq.server.broker.RawWebSocket.frame;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records in both directions over WebSockets. */
@Timeout(120)
class GatewayWebSocketTest {
    private static final int SMALL_BUFFER_BYTES = 4 * 1024;

    /** More than the time of silence after which the broker closes a connection. */
    private static final int SILENCE_LIMIT_S = 90;

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
        topics++;
        String name = "t" + topics;
        broker.createTopic(name, partitions, Map.of());
        return name;
    }

    /** Appends the numbers of a range to partition 0. */
    private static void append(String topic, int from, int to) throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = from; i < to; i++) {
            lines.append("{\"partition\":0,\"value\":\"").append(i).append("\"}\n");
        }
        gateway.post("/v1/topics/" + topic + "/records", NDJSON, lines.toString());
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).toList();
    }

    private static String subscribe(String topic, String more) {
        return "{\"type\":\"subscribe\",\"topic\":\"" + topic + "\"" + more + "}";
    }

    private static String message(String type, String topic, String more) {
        return "{\"type\":\"" + type + "\",\"topic\":\"" + topic + "\"" + more + "}";
    }

    private static byte[] batch(String... values) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.LZ4)) {
            for (String value : values) {
                builder.append(1, (ByteBuf) null, Unpooled.wrappedBuffer(value.getBytes(UTF_8)), List.of());
            }
            ByteBuf built = builder.build();
            try {
                return ByteBufUtil.getBytes(built);
            } finally {
                built.release();
            }
        }
    }

    static List<String> valuesOf(byte[] batches, long from) {
        List<String> values = new ArrayList<>();
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(Unpooled.wrappedBuffer(batches));
            while (reader.nextBatch()) {
                while (reader.next()) {
                    if (reader.offset() >= from) {
                        values.add(reader.value().toString(UTF_8));
                    }
                }
            }
        }
        return values;
    }

    @Test
    void shouldSendRecordsOnlyWhileTheClientHasCredit() throws Exception {
        String topic = topic(1);
        append(topic, 0, 5_000);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"id\":7,\"from\":\"start\""));
            assertThat(socket.read().text())
                    .isEqualTo("{\"type\":\"subscribed\",\"id\":7,\"topic\":\"" + topic + "\",\"cursor\":\"0:0\"}");
            assertThat(socket.isSilent(200)).isTrue();

            socket.send("{\"type\":\"credit\",\"records\":2}");
            JsonNode first = socket.message();
            assertThat(first.get("records")).hasSize(2);
            assertThat(first.get("records").get(1).toString())
                    .matches("\\{\"partition\":0,\"offset\":1,\"timestamp\":\\d+,\"key\":null,\"value\":\"1\"}");
            assertThat(socket.isSilent(200)).isTrue();

            socket.send("{\"type\":\"credit\",\"records\":10000}");
            assertThat(socket.values(4_998)).isEqualTo(numbers(2, 5_000));
            append(topic, 5_000, 5_010);
            assertThat(socket.values(10)).isEqualTo(numbers(5_000, 5_010));
        }
    }

    @Test
    void shouldLimitMessagesTo1000RecordsOr48KiB() throws Exception {
        String topic = topic(1);
        append(topic, 0, 2_500);
        gateway.post(
                "/v1/topics/" + topic + "/records",
                NDJSON,
                ("{\"value\":\"" + "x".repeat(1_000) + "\"}\n").repeat(500));
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"from\":\"start\",\"credit\":3000"));
            assertThat(socket.message().get("type").asText()).isEqualTo("subscribed");
            int records = 0;
            while (records < 3_000) {
                RawWebSocket.Frame frame = socket.read();
                assertThat(frame.sizeBytes()).isLessThan(50 * 1024);
                assertThat(frame.json().get("records").size()).isBetween(1, 1_000);
                records += frame.json().get("records").size();
            }
        }
    }

    @Test
    void shouldEchoTheIdWhenRecordsAreAppended() throws Exception {
        String topic = topic(2);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(message(
                    "produce",
                    topic,
                    ",\"id\":\"a\",\"records\":[{\"partition\":1,\"value\":\"x\"},"
                            + "{\"partition\":1,\"value\":{\"y\":1}}]"));
            assertThat(socket.read().text())
                    .isEqualTo("{\"type\":\"produced\",\"id\":\"a\",\"topic\":\"" + topic
                            + "\",\"records\":2,\"offsets\":[{\"partition\":1,\"first\":0,\"last\":1}]}");
            for (int i = 0; i < 300; i++) {
                socket.send(message(
                        "produce", topic, ",\"id\":" + i + ",\"records\":[{\"partition\":0,\"value\":\"" + i + "\"}]"));
            }
            for (int i = 0; i < 300; i++) {
                assertThat(socket.message().get("id").asInt()).isEqualTo(i);
            }
        }
        assertThat(broker.readAll(List.of(new TopicPartition(topic, 0)), 300).stream()
                        .map(record -> new String(record.value(), UTF_8)))
                .isEqualTo(numbers(0, 300));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'type':'produce','id':1,'topic':'nothing','records':[]}|unknown-topic",
                "{'type':'produce','id':1,'topic':'T','records':[{'value':'good'},{'vlaue':'x'}]}|invalid-body",
                "{'type':'produce','id':1,'topic':'T','records':[{'value':'good'},7]}|invalid-body",
                "{'type':'produce','id':1,'topic':'T','records':[{'value':'good'}],'more':1}|invalid-body",
                "{'type':'produce','id':1,'topic':'T'}|invalid-body",
                "{'type':'produce','id':1,'topic':'T','records':[{'partition':5}]}|unknown-partition",
                "{'type':'subscribe','id':1,'topic':'nothing'}|unknown-topic",
                "{'type':'subscribe','id':1,'topic':'T','form':'start'}|invalid-parameter",
                "{'type':'subscribe','id':1,'topic':'T','partition':0,'offset':9}|offset-out-of-range",
                "{'type':'seek','id':1,'topic':'T'}|invalid-parameter",
                "{'type':'credit','id':1,'records':-1}|invalid-body",
                "{'type':'dance','id':1}|invalid-body",
                "{'id':1}|invalid-body",
            })
    void shouldSendAProblemAndGoOnWhenAMessageIsRefused(String wrong, String problem) throws Exception {
        String topic = topic(1);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(wrong.replace('\'', '"').replace("\"T\"", "\"" + topic + "\""));
            JsonNode error = socket.message();
            assertThat(error.get("type").asText()).isEqualTo("error");
            assertThat(error.get("problem").get("type").asText()).endsWith(problem);
            assertThat(error.has("id") ? error.get("id").asInt() : 1).isEqualTo(1);

            socket.send(message("produce", topic, ",\"records\":[{\"value\":\"next\"}]"));
            assertThat(socket.message().toString()).contains("{\"partition\":0,\"first\":0,\"last\":0}");
        }
    }

    @Test
    void shouldContinueAtTheNewPositionWhenTheClientSeeks() throws Exception {
        String topic = topic(1);
        append(topic, 0, 10);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"credit\":1000"));
            assertThat(socket.message().get("cursor").asText()).isEqualTo("0:10");

            // when the client goes back while a fetch at the end waits
            socket.send(message("seek", topic, ",\"id\":\"s\",\"cursor\":\"0:4\""));
            JsonNode sought = socket.message();
            assertThat(sought.get("type").asText()
                            + sought.get("id").asText()
                            + sought.get("cursor").asText())
                    .isEqualTo("soughts0:4");
            assertThat(socket.values(6)).isEqualTo(numbers(4, 10));

            // and often
            for (int i = 0; i < 50; i++) {
                socket.send(message("seek", topic, ",\"from\":\"end\""));
                assertThat(socket.message().get("cursor").asText()).isEqualTo("0:10");
                append(topic, 10, 10);
            }
            socket.send(message("seek", topic, ",\"offset\":9,\"partition\":0"));
            assertThat(socket.message().get("cursor").asText()).isEqualTo("0:9,only");
            assertThat(socket.values(1)).containsExactly("9");
        }
    }

    @Test
    void shouldReadOnePartitionWhenTheClientContinuesAtTheCursorOfASubscriptionToIt() throws Exception {
        String topic = topic(2);
        append(topic, 0, 3);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"partition\":1,\"from\":\"start\""));
            String cursor = socket.message().get("cursor").asText();
            assertThat(cursor).isEqualTo("1:0,only");

            // when
            socket.send(message("seek", topic, ",\"cursor\":\"" + cursor + "\""));
            // then
            assertThat(socket.message().get("cursor").asText()).isEqualTo(cursor);
            socket.send("{\"type\":\"credit\",\"records\":100}");
            assertThat(socket.isSilent(200)).isTrue();
        }
        // and without the mark, the other partition belongs to it
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"cursor\":\"1:0\",\"credit\":100"));
            assertThat(socket.message().get("cursor").asText()).isEqualTo("0:0,1:0");
            assertThat(socket.values(3)).isEqualTo(numbers(0, 3));
        }
    }

    @Test
    void shouldSendNothingWhileTheClientHasPausedATopic() throws Exception {
        String topic = topic(1);
        String other = topic(1);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"credit\":1000"));
            socket.message();
            socket.send(subscribe(other, ""));
            socket.message();
            socket.send(message("pause", topic, ""));
            append(topic, 0, 3);
            append(other, 100, 103);
            assertThat(socket.values(3)).isEqualTo(numbers(100, 103));
            assertThat(socket.isSilent(200)).isTrue();

            socket.send("{\"type\":\"resume\"}");
            assertThat(socket.values(3)).isEqualTo(numbers(0, 3));

            socket.send(message("unsubscribe", topic, ""));
            assertThat(socket.message().get("type").asText()).isEqualTo("unsubscribed");
            append(topic, 3, 6);
            append(other, 103, 104);
            assertThat(socket.values(1)).containsExactly("103");
        }
    }

    @Test
    void shouldReportAGapWhenRetentionHasOvertakenTheClient() throws Exception {
        String topic = topic(1);
        append(topic, 0, 10);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(subscribe(topic, ",\"cursor\":\"0:2\""));
            socket.message();
            try (Admin admin = broker.admin()) {
                admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(6)))
                        .all()
                        .get(20, TimeUnit.SECONDS);
            }
            socket.send("{\"type\":\"credit\",\"records\":100}");
            assertThat(socket.read().text())
                    .isEqualTo("{\"type\":\"gap\",\"topic\":\"" + topic + "\",\"partition\":0,\"from\":2,\"to\":6}");
            assertThat(socket.values(4)).isEqualTo(numbers(6, 10));
        }
    }

    @Test
    void shouldSendWholeBatchesOfCommittedRecordsWhenTheClientWantsBatches() throws Exception {
        String topic = topic(1);
        append(topic, 0, 3);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", topic))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, "aborted".getBytes(UTF_8)))
                    .get(20, TimeUnit.SECONDS);
            producer.abortTransaction();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, "committed".getBytes(UTF_8)))
                    .get(20, TimeUnit.SECONDS);
            producer.commitTransaction();
        }
        append(topic, 7, 9);
        try (RawWebSocket socket = RawWebSocket.open(gateway, BATCH)) {
            socket.send(subscribe(topic, ",\"cursor\":\"0:1\",\"credit\":1000"));
            assertThat(socket.message().get("type").asText()).isEqualTo("subscribed");
            List<String> values = new ArrayList<>();
            while (values.size() < 5) {
                RawWebSocket.Frame frame = socket.read();
                assertThat(frame.opcode()).isEqualTo(BINARY);
                assertThat(frame.text())
                        .startsWith("{\"type\":\"records\",\"topic\":\"" + topic + "\",\"partition\":0}\n");
                values.addAll(valuesOf(frame.batches(), 1));
            }
            assertThat(values).containsExactly("1", "2", "committed", "7", "8");
        }
    }

    @Test
    void shouldStopBehindABatchWhenTheCreditForBatchesIsUsedUp() throws Exception {
        String topic = topic(1);
        for (int i = 0; i < 5; i++) {
            append(topic, 10 * i, 10 * (i + 1));
        }
        try (RawWebSocket socket = RawWebSocket.open(gateway, BATCH)) {
            socket.send(subscribe(topic, ",\"from\":\"start\",\"credit\":15"));
            socket.message();
            assertThat(valuesOf(socket.read().batches(), 0)).isEqualTo(numbers(0, 20));
            assertThat(socket.isSilent(200)).isTrue();
            socket.send("{\"type\":\"credit\",\"records\":6}");
            assertThat(valuesOf(socket.read().batches(), 0)).isEqualTo(numbers(20, 30));
        }
    }

    @Test
    void shouldAppendBatchesWhenTheClientSendsThem() throws Exception {
        String topic = topic(2);
        try (RawWebSocket socket = RawWebSocket.open(gateway, BATCH)) {
            ByteArrayOutputStream payload = new ByteArrayOutputStream();
            payload.writeBytes(
                    message("produce", topic, ",\"id\":1,\"partition\":1\n}\n").getBytes(UTF_8));
            socket.write(frame(LAST | BINARY, payload.toByteArray()));
            assertThat(socket.closeCode()).isEqualTo(1007); // the line ends within the object
        }
        try (RawWebSocket socket = RawWebSocket.open(gateway, BATCH)) {
            ByteArrayOutputStream payload = new ByteArrayOutputStream();
            payload.writeBytes((message("produce", topic, ",\"id\":1,\"partition\":1") + "\n").getBytes(UTF_8));
            payload.writeBytes(batch("a", "b"));
            payload.writeBytes(batch("x".repeat(100_000)));
            socket.write(frame(LAST | BINARY, payload.toByteArray()));
            assertThat(socket.read().text())
                    .isEqualTo("{\"type\":\"produced\",\"id\":1,\"topic\":\"" + topic
                            + "\",\"records\":3,\"offsets\":[{\"partition\":1,\"first\":0,\"last\":2}]}");

            payload.write(1); // a batch that does not end
            socket.write(frame(LAST | BINARY, payload.toByteArray()));
            JsonNode error = socket.message();
            assertThat(error.get("id").asInt()).isEqualTo(1);
            assertThat(error.get("records").asInt()).isEqualTo(3);
            assertThat(error.get("problem").get("detail").asText()).contains("batch 3");
        }
    }

    @Test
    void shouldReadAMessageWhenItsFramesArriveByteByByteWithAPingBetweenThem() throws Exception {
        String topic = topic(1);
        byte[] text = message("produce", topic, ",\"records\":[{\"value\":\"é" + "x".repeat(300) + "\"}]")
                .getBytes(UTF_8);
        int cut = text.length - 305; // within the character
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        frames.writeBytes(frame(TEXT, java.util.Arrays.copyOf(text, cut)));
        frames.writeBytes(frame(LAST | PING, "ping".getBytes(UTF_8)));
        frames.writeBytes(frame(CONTINUATION, new byte[0]));
        frames.writeBytes(frame(LAST | CONTINUATION, java.util.Arrays.copyOfRange(text, cut, text.length)));
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            for (byte each : frames.toByteArray()) {
                socket.write(new byte[] {each});
            }
            RawWebSocket.Frame pong = socket.read();
            assertThat(pong.opcode()).isEqualTo(PONG);
            assertThat(pong.text()).isEqualTo("ping");
            assertThat(socket.message().get("records").asInt()).isEqualTo(1);

            // an empty ping, which is the last that arrives
            socket.write(frame(LAST | PING, new byte[0]));
            assertThat(socket.read().opcode()).isEqualTo(PONG);

            // and the end
            socket.write(frame(LAST | CLOSE, new byte[] {0x03, (byte) 0xe8}));
            assertThat(socket.closeCode()).isEqualTo(1000);
            assertThat(socket.isEnded()).isTrue();
        }
    }

    /** What a client must not send, and the code with which the broker closes. */
    private static List<Arguments> violations() {
        return List.of(
                Arguments.of("not masked", 1002, new byte[] {(byte) 0x81, 2, '{', '}'}),
                Arguments.of("reserved bit", 1002, frame(LAST | 0x40 | TEXT, bytes("{}"))),
                Arguments.of("unknown opcode", 1002, frame(LAST | 0x03, bytes("{}"))),
                Arguments.of("unknown control", 1002, frame(LAST | 0x0b, bytes("{}"))),
                Arguments.of("fragmented ping", 1002, frame(PING, bytes("x"))),
                Arguments.of("large ping", 1002, frame(LAST | PING, new byte[126])),
                Arguments.of("lone continuation", 1002, frame(LAST | CONTINUATION, bytes("x"))),
                Arguments.of(
                        "message in message", 1002, concat(frame(TEXT, bytes("{")), frame(LAST | TEXT, bytes("}")))),
                Arguments.of(
                        "length not shortest", 1002, new byte[] {(byte) 0x81, (byte) 0xfe, 0, 2, 0, 0, 0, 0, '{', '}'}),
                Arguments.of("negative length", 1002, new byte[] {
                    (byte) 0x81, (byte) 0xff, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0
                }),
                Arguments.of(
                        "too large", 1009, new byte[] {(byte) 0x81, (byte) 0xff, 0, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0
                        }),
                Arguments.of(
                        "too large in parts",
                        1009,
                        concat(frame(TEXT, new byte[600_000]), frame(LAST | CONTINUATION, new byte[600_000]))),
                Arguments.of("not utf8", 1007, frame(LAST | TEXT, new byte[] {'"', (byte) 0xff, '"'})),
                Arguments.of("not json", 1007, frame(LAST | TEXT, bytes("{]"))),
                Arguments.of("empty", 1002, frame(LAST | CLOSE, new byte[] {3})),
                Arguments.of("binary in json", 1003, frame(LAST | BINARY, bytes("{}\n"))),
                Arguments.of("bad close code", 1002, frame(LAST | CLOSE, new byte[] {0x03, (byte) 0xed})),
                Arguments.of("bad reason", 1007, frame(LAST | CLOSE, new byte[] {0x03, (byte) 0xe8, (byte) 0xff})));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static byte[] concat(byte[] first, byte[] second) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(first);
        out.writeBytes(second);
        return out.toByteArray();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("violations")
    void shouldCloseWithACodeWhenTheClientBreaksTheProtocol(String name, int code, byte[] violation) throws Exception {
        String topic = topic(1);
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.write(violation);
            socket.send(message("produce", topic, ",\"records\":[{\"value\":\"behind\"}]"));
            assertThat(socket.closeCode()).as(name).isEqualTo(code);
            assertThat(socket.isEnded()).isTrue();
        }
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.send(message("produce", topic, ",\"records\":[{\"value\":\"first\"}]"));
            assertThat(socket.message().toString()).contains("\"first\":0,");
        }
    }

    @ParameterizedTest
    @CsvSource({"http://evil.example, 403", "http://localhost.evil.example, 403", "null, 403", "http://localhost, 101"})
    void shouldRefuseAWebSocketOfAForeignPage(String origin, int status) throws Exception {
        String response = handshake(RawWebSocket.handshake(JSON, "Origin: " + origin + "\r\n"));
        assertThat(response).startsWith("HTTP/1.1 " + status + " ");
    }

    private static String handshake(String text) throws Exception {
        try (java.net.Socket socket = gateway.connect()) {
            socket.getOutputStream().write(text.getBytes(UTF_8));
            return GatewayClient.readHead(socket);
        }
    }

    @Test
    void shouldRefuseAHandshakeWhenAPartOfItIsWrong() throws Exception {
        String right = RawWebSocket.handshake(JSON, "");
        assertThat(handshake(right.replace("Host: localhost", "Host: evil.example")))
                .startsWith("HTTP/1.1 421 ");
        assertThat(handshake(right.replace("Version: 13", "Version: 8")))
                .startsWith("HTTP/1.1 426 ")
                .containsIgnoringCase("Sec-WebSocket-Version: 13");
        assertThat(handshake(right.replace("Connection: Upgrade", "Connection: keep-alive")))
                .startsWith("HTTP/1.1 426 ");
        assertThat(handshake(right.replace("HTTP/1.1", "HTTP/1.0"))).startsWith("HTTP/1.1 426 ");
        assertThat(handshake(right.replace("dGhl", "dGhl===="))).startsWith("HTTP/1.1 400 ");
        assertThat(handshake(RawWebSocket.handshake("", ""))).startsWith("HTTP/1.1 400 ");
        assertThat(handshake(RawWebSocket.handshake("mqtt", ""))).startsWith("HTTP/1.1 400 ");
        assertThat(gateway.get("/v1/ws").statusCode()).isEqualTo(426);
    }

    /** The decompressor would stand between the connection and the WebSocket, which the loop asks every second. */
    @Test
    void shouldRefuseAHandshakeWhenItHasACompressedBody() throws Exception {
        byte[] empty = GatewayClient.gzip(new byte[0]);
        String head =
                RawWebSocket.handshake(JSON, "Content-Encoding: gzip\r\nContent-Length: " + empty.length + "\r\n");
        try (java.net.Socket socket = gateway.connect()) {
            socket.getOutputStream().write(head.getBytes(UTF_8));
            socket.getOutputStream().write(empty);
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 400 ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {JSON, BATCH})
    void shouldHoldLittleMemoryAndLoseNothingWhenClientsStopReading(String protocol) throws Exception {
        int count = 10;
        int records = 20_000;
        String topic = topic(1);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < records; i++) {
            lines.append("{\"value\":\"").append("x".repeat(500)).append(i).append("\"}\n");
        }
        gateway.post("/v1/topics/" + topic + "/records", NDJSON, lines.toString());
        long beforeBytes = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
        List<RawWebSocket> clients = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                RawWebSocket client = RawWebSocket.open(gateway.connect(SMALL_BUFFER_BYTES), protocol);
                clients.add(client);
                client.send(subscribe(topic, ",\"from\":\"start\",\"credit\":1000000"));
            }
            broker.await(() -> clients.stream().allMatch(RawWebSocket::hasData));

            // Two buffers of 56 KiB, and 8 KiB: the next message of JSON is written when most of the last one is sent.
            // Batches are sent from their file.
            int limitBytes = protocol.equals(JSON) ? 128 * 1024 : 16 * 1024;
            assertThat((settledMemory(broker) - beforeBytes) / count).isLessThan(limitBytes);
            int next = 0;
            clients.get(0).read();
            while (next < records) {
                RawWebSocket.Frame frame = clients.get(0).read();
                List<String> values = protocol.equals(JSON)
                        ? frame.json().get("records").findValuesAsText("value")
                        : valuesOf(frame.batches(), 0);
                for (String value : values) {
                    assertThat(value).endsWith("x" + next);
                    next++;
                }
            }
        } finally {
            for (RawWebSocket client : clients) {
                client.close();
            }
        }
    }

    /** The direct memory of this process in bytes, when it has not changed for two seconds. */
    static long settledMemory(TestBroker broker) throws InterruptedException {
        long[] last = {-1};
        long[] sinceNanos = {System.nanoTime()};
        broker.await(() -> {
            long now = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
            if (now != last[0]) {
                last[0] = now;
                sinceNanos[0] = System.nanoTime();
            }
            return System.nanoTime() - sinceNanos[0] > TimeUnit.SECONDS.toNanos(2);
        });
        return last[0];
    }

    @Test
    void shouldSayThatItGoesAwayWhenTheBrokerStops(@TempDir Path other) throws Exception {
        RawWebSocket socket;
        try (TestBroker stopping =
                new TestBroker(other).with("gateway.listener", "127.0.0.1:0").start()) {
            stopping.createTopic("t", 1, Map.of());
            socket = RawWebSocket.open(new GatewayClient(stopping.gatewayPort()), JSON);
            socket.send(subscribe("t", ",\"credit\":10"));
            assertThat(socket.message().get("type").asText()).isEqualTo("subscribed");
        }
        assertThat(socket.closeCode()).isEqualTo(1001);
        socket.close();
    }

    @Test
    @Tag("long")
    void shouldCloseWhenAMessageArrivesTooSlowly() throws Exception {
        try (RawWebSocket socket = RawWebSocket.open(gateway, JSON)) {
            socket.write(java.util.Arrays.copyOf(frame(LAST | TEXT, new byte[1000]), 500));
            assertThat(socket.closeCode()).isEqualTo(1008);
        }
    }

    /** The waits of two topics overlap, so that the socket is not read for longer than the limit of silence. */
    @Test
    @Tag("long")
    @Timeout(180)
    void shouldKeepAClientThatSendsWhileItWaitsForAQuota(@TempDir Path other) throws Exception {
        try (TestBroker limited = new TestBroker(other)
                        .with("gateway.listener", "127.0.0.1:0")
                        .start();
                Admin admin = limited.admin()) {
            // given
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, "http")),
                            List.of(new ClientQuotaAlteration.Op("consumer_byte_rate", 10_000.0)))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
            try (KafkaProducer<byte[], byte[]> producer = limited.producer(Map.of("batch.size", 0))) {
                for (String topic : List.of("a", "b")) {
                    limited.createTopic(topic, 1, Map.of());
                    for (int i = 0; i < 50; i++) {
                        byte[] value = new byte[topic.equals("a") ? 40_000 : 60_000];
                        producer.send(new ProducerRecord<>(topic, value)).get(20, TimeUnit.SECONDS);
                    }
                }
            }
            try (RawWebSocket socket = RawWebSocket.open(new GatewayClient(limited.gatewayPort()), JSON)) {
                socket.send(subscribe("a", ",\"from\":\"start\",\"credit\":1000"));
                socket.send(subscribe("b", ",\"from\":\"start\""));

                // when
                CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                    try {
                        for (int i = 0; i < SILENCE_LIMIT_S; i++) {
                            socket.send("{\"type\":\"credit\",\"records\":1}");
                            Thread.sleep(1_000);
                        }
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                });

                // then
                while (!sent.isDone()) {
                    assertThat(socket.read().opcode()).isEqualTo(TEXT);
                }
                sent.get();
            }
        }
    }

    @Test
    void shouldServeTheClientOfTheJdk() throws Exception {
        String topic = topic(1);
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .subprotocols(JSON)
                .buildAsync(URI.create("ws://127.0.0.1:" + broker.gatewayPort() + "/v1/ws"), new WebSocket.Listener() {
                    private final StringBuilder text = new StringBuilder();

                    @Override
                    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
                        text.append(part);
                        if (last) {
                            received.add(text.toString());
                            text.setLength(0);
                        }
                        from.request(1);
                        return null;
                    }
                })
                .get(20, TimeUnit.SECONDS);
        assertThat(socket.getSubprotocol()).isEqualTo(JSON);

        socket.sendText(subscribe(topic, ",\"credit\":10"), true).get(20, TimeUnit.SECONDS);
        assertThat(received.poll(20, TimeUnit.SECONDS)).contains("subscribed");
        socket.sendText(message("produce", topic, ",\"records\":[{\"value\":\"hello\"}]"), true)
                .get(20, TimeUnit.SECONDS);
        List<String> both = List.of(received.poll(20, TimeUnit.SECONDS), received.poll(20, TimeUnit.SECONDS));
        assertThat(both).anyMatch(text -> text.contains("\"produced\""));
        assertThat(both).anyMatch(text -> text.contains("\"value\":\"hello\""));
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(20, TimeUnit.SECONDS);
    }
}
