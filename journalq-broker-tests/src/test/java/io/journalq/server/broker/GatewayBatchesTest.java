package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Produce of ready batches over HTTP, read back with Kafka's own consumer. */
@Timeout(120)
class GatewayBatchesTest {
    private static final String TYPE = "application/vnd.journalq.batch";

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

    private static String topic(Map<String, String> configs) throws Exception {
        topics++;
        String name = "t" + topics;
        broker.createTopic(name, 2, configs);
        return name;
    }

    private static byte[] batch(CompressionCodec codec, String... values) {
        return batch(codec, -1, -1, false, values);
    }

    private static byte[] batch(
            CompressionCodec codec, long producerId, int sequence, boolean transactional, String... values) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            if (producerId >= 0) {
                builder.setProducerState(producerId, (short) 0, sequence, transactional);
            }
            for (String value : values) {
                builder.append(1_700_000_000_000L, "key".getBytes(UTF_8), value.getBytes(UTF_8), List.of());
            }
            ByteBuf built = builder.build();
            try {
                return ByteBufUtil.getBytes(built);
            } finally {
                built.release();
            }
        }
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static HttpResponse<String> post(String topic, byte[] body) throws Exception {
        return gateway.post(
                "/v1/topics/" + topic + "/records", TYPE, BodyPublishers.ofByteArray(body), "JQ-Partition", "1");
    }

    private static List<String> values(String topic, int count) {
        return broker.readAll(List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1)), count).stream()
                .map(record -> new String(record.value(), UTF_8))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"consistent", "performance", "eventual"})
    void shouldAppendBatchesInTheirOrderInEachDeliveryMode(String mode) throws Exception {
        String topic = topic(Map.of("delivery.mode", mode));
        String large = "x".repeat(900_000);

        HttpResponse<String> response = post(
                topic,
                concat(
                        batch(CompressionCodec.NONE, "a", "b"),
                        batch(CompressionCodec.NONE, large),
                        batch(CompressionCodec.NONE, "c")));

        assertThat(response.body())
                .isEqualTo("{\"topic\":\"" + topic
                        + "\",\"records\":4,\"offsets\":[{\"partition\":1,\"first\":0,\"last\":3}]}\n");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(values(topic, 4)).containsExactly("a", "b", large, "c");
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldAppendABatchAsItIsWhenItIsCompressed(CompressionCodec codec) throws Exception {
        String topic = topic(Map.of());

        assertThat(post(topic, batch(codec, "compressed", "twice")).statusCode())
                .isEqualTo(200);

        assertThat(values(topic, 2)).containsExactly("compressed", "twice");
    }

    @Test
    void shouldAppendABatchWhenItArrivesByteByByte() throws Exception {
        String topic = topic(Map.of());
        byte[] body = concat(batch(CompressionCodec.NONE, "first"), batch(CompressionCodec.NONE, "second"));
        try (Socket socket = gateway.connect()) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            out.write(("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + TYPE
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(ISO_8859_1));
            for (byte each : body) {
                out.write(concat("1\r\n".getBytes(ISO_8859_1), new byte[] {each}, "\r\n".getBytes(ISO_8859_1)));
            }
            out.write("0\r\n\r\n".getBytes(ISO_8859_1));

            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");
        }
        assertThat(values(topic, 2)).containsExactly("first", "second");
    }

    /** The buffer of a batch grows in steps of different sizes. */
    @ParameterizedTest
    @ValueSource(ints = {7_000, 65_000, 130_000, 600_000})
    void shouldAppendALargeBatchWhenItArrivesInPieces(int pieceBytes) throws Exception {
        String topic = topic(Map.of());
        String large = "x".repeat(900_000);
        byte[] body =
                concat(batch(CompressionCodec.NONE, large), batch(CompressionCodec.NONE, "y".repeat(70_000), "z"));
        try (Socket socket = gateway.connect()) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            out.write(("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + TYPE
                            + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                    .getBytes(ISO_8859_1));
            for (int at = 0; at < body.length; at += pieceBytes) {
                out.write(body, at, Math.min(pieceBytes, body.length - at));
            }

            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");
        }
        assertThat(values(topic, 3)).containsExactly(large, "y".repeat(70_000), "z");
    }

    @Test
    void shouldAppendABatchOnceWhenAnIdempotentProducerSendsItAgain() throws Exception {
        String topic = topic(Map.of());
        byte[] batch = batch(CompressionCodec.NONE, 4_711, 0, false, "once", "only");

        HttpResponse<String> first = post(topic, batch);
        HttpResponse<String> second = post(topic, batch);
        HttpResponse<String> next = post(topic, batch(CompressionCodec.NONE, 4_711, 2, false, "next"));
        HttpResponse<String> hole = post(topic, batch(CompressionCodec.NONE, 4_711, 9, false, "too early"));

        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(next.statusCode()).isEqualTo(200);
        assertThat(hole.statusCode()).isEqualTo(422);
        assertThat(values(topic, 3)).containsExactly("once", "only", "next");
    }

    /** Bodies whose second batch is wrong, and what the problem says. */
    private enum Wrong {
        TRUNCATED(400, "batch 2: the body ends in the middle"),
        OLD_MAGIC(400, "magic 1"),
        SHORT_LENGTH(400, "its length field is 3"),
        NEGATIVE_LENGTH(400, "its length field is -1"),
        NO_RECORDS(400, "no records"),
        IN_TRANSACTION(400, "transaction"),
        TOO_LARGE(413, "max.message.bytes"),
        DAMAGED(422, "partition 1"),
        UNKNOWN_COMPRESSION(422, "gzip, snappy, lz4 or zstd"),
        TOO_MANY_RECORDS(413, "100000 records");

        private final int status;
        private final String words;

        Wrong(int status, String words) {
            this.status = status;
            this.words = words;
        }

        byte[] batch() {
            byte[] batch = GatewayBatchesTest.batch(CompressionCodec.NONE, "wrong");
            ByteBuffer bytes = ByteBuffer.wrap(batch);
            switch (this) {
                case TRUNCATED -> {
                    return Arrays.copyOf(batch, batch.length - 1);
                }
                case OLD_MAGIC -> bytes.put(RecordBatch.MAGIC, (byte) 1);
                case SHORT_LENGTH -> bytes.putInt(RecordBatch.LENGTH, 3);
                case NEGATIVE_LENGTH -> bytes.putInt(RecordBatch.LENGTH, -1);
                case NO_RECORDS -> bytes.putInt(RecordBatch.RECORD_COUNT, 0);
                case IN_TRANSACTION -> {
                    return GatewayBatchesTest.batch(CompressionCodec.NONE, 1, 0, true, "wrong");
                }
                case TOO_LARGE -> bytes.putInt(RecordBatch.LENGTH, Integer.MAX_VALUE);
                case DAMAGED -> batch[batch.length - 2] ^= 1;
                case UNKNOWN_COMPRESSION -> {
                    bytes.putShort(RecordBatch.ATTRIBUTES, (short) 7);
                    CRC32C crc = new CRC32C();
                    crc.update(batch, RecordBatch.ATTRIBUTES, batch.length - RecordBatch.ATTRIBUTES);
                    RecordBatch.setCrc(Unpooled.wrappedBuffer(batch), 0, (int) crc.getValue());
                }
                case TOO_MANY_RECORDS -> bytes.putInt(RecordBatch.RECORD_COUNT, Integer.MAX_VALUE);
            }
            return batch;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatWasAppendedWhenALaterBatchIsWrong(Wrong wrong) throws Exception {
        String topic = topic(Map.of());

        HttpResponse<String> response = post(topic, concat(batch(CompressionCodec.NONE, "good"), wrong.batch()));

        assertThat(response.statusCode()).as(response.body()).isEqualTo(wrong.status);
        assertThat(response.body())
                .contains(wrong.words)
                .contains("\"records\":1,\"offsets\":[{\"partition\":1,\"first\":0,\"last\":0}]");
        post(topic, batch(CompressionCodec.NONE, "next"));
        assertThat(values(topic, 2)).containsExactly("good", "next");
    }
}
