package io.journalq.server.broker;

import static io.journalq.server.broker.RawWebSocket.BATCH;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.FileRegion;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches for readers of WebSockets that are sent from the files of their log, without passing through memory. */
@Timeout(120)
class GatewayBatchFilesTest {
    private static final String TYPE = "application/vnd.journalq.batch";
    private static final int SMALL_BUFFER_BYTES = 4 * 1024;
    private static final int LARGE_BATCH_BYTES = 40_000;

    @TempDir
    private Path directory;

    private final AtomicInteger regions = new AtomicInteger();
    private final Random random = new Random(1);
    private TestBroker broker;
    private GatewayClient gateway;
    private SSLContext tls;

    @AfterEach
    void stop() {
        broker.close();
    }

    private void start(boolean encrypted, Map<String, String> topic) throws Exception {
        broker = new TestBroker(directory.resolve("data"))
                .with("log.retention.check.interval.ms", "100")
                .with("gateway.listener", (encrypted ? "SSL://" : "") + "127.0.0.1:0");
        if (encrypted) {
            TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
            keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
            broker.with(
                            "ssl.keystore.location",
                            keys.directory().resolve("broker.p12").toString())
                    .with("ssl.keystore.password.file", keys.passwordFile().toString());
            tls = keys.sockets(null);
        }
        broker.start(countingStore());
        gateway = encrypted ? new GatewayClient(broker.gatewayPort(), tls) : new GatewayClient(broker.gatewayPort());
        broker.createTopic("t", 1, topic);
    }

    private FileStore countingStore() {
        return new FilterFileStore(new SystemFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
                        regions.incrementAndGet();
                        return super.region(position, sizeBytes, onRelease);
                    }
                };
            }
        };
    }

    /** A batch of values that have no pattern. */
    private byte[] batch(int values, int valueBytes) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < values; i++) {
                byte[] value = new byte[valueBytes];
                random.nextBytes(value);
                builder.append(System.currentTimeMillis(), (ByteBuf) null, Unpooled.wrappedBuffer(value), List.of());
            }
            ByteBuf built = builder.build();
            try {
                return ByteBufUtil.getBytes(built);
            } finally {
                built.release();
            }
        }
    }

    private void post(byte[] body) throws Exception {
        HttpResponse<String> response =
                gateway.post("/v1/topics/t/records", TYPE, BodyPublishers.ofByteArray(body), "JQ-Partition", "0");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    }

    /** Appends batches, one behind the other, and returns them with their offsets. */
    private List<byte[]> append(long firstOffset, byte[]... batches) throws Exception {
        List<byte[]> appended = new ArrayList<>();
        long next = firstOffset;
        for (byte[] batch : batches) {
            post(batch);
            byte[] copy = batch.clone();
            ByteBuf bytes = Unpooled.wrappedBuffer(copy);
            RecordBatch.setBaseOffset(bytes, 0, next);
            RecordBatch.setLeaderEpoch(bytes, 0, 0);
            next = RecordBatch.nextOffset(bytes, 0);
            appended.add(copy);
        }
        return appended;
    }

    private RawWebSocket open(int receiveBufferBytes) throws Exception {
        Socket socket = new Socket();
        if (receiveBufferBytes > 0) {
            socket.setReceiveBufferSize(receiveBufferBytes);
        }
        socket.setSoTimeout(60_000);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.gatewayPort()));
        if (tls != null) {
            socket = tls.getSocketFactory().createSocket(socket, "localhost", broker.gatewayPort(), true);
        }
        return RawWebSocket.open(socket, BATCH);
    }

    private static void subscribe(RawWebSocket socket) throws IOException {
        socket.send("{\"type\":\"subscribe\",\"topic\":\"t\",\"cursor\":\"0:0\",\"credit\":1000000}");
    }

    private static byte[] read(RawWebSocket socket, int sizeBytes) throws IOException {
        ByteArrayOutputStream batches = new ByteArrayOutputStream();
        while (batches.size() < sizeBytes) {
            RawWebSocket.Frame frame = socket.read();
            assertThat(frame.opcode())
                    .as(() -> frame.text().substring(0, Math.min(200, frame.sizeBytes())))
                    .isEqualTo(RawWebSocket.BINARY);
            batches.writeBytes(frame.batches());
        }
        return batches.toByteArray();
    }

    private static byte[] concat(List<byte[]> parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        parts.forEach(out::writeBytes);
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendBatchesAsTheyWereAppendedWhenTheyComeFromFiles(boolean encrypted) throws Exception {
        // given batches that are smaller and larger than a message, and than what is read of a file at a time
        start(encrypted, Map.of());
        List<byte[]> batches = new ArrayList<>();
        int[] valueBytes = {900_000, 1, LARGE_BATCH_BYTES, 300, 460, 300_000, 7, LARGE_BATCH_BYTES, 600_000};
        long offset = 0;
        for (int round = 0; round < 3; round++) {
            for (int size : valueBytes) {
                batches.addAll(append(offset, batch(1, size), batch(20, size / 20)));
                offset += 21;
            }
        }
        byte[] expected = concat(batches);

        // when
        byte[] received;
        try (RawWebSocket socket = open(0)) {
            subscribe(socket);
            assertThat(socket.message().get("type").asText()).isEqualTo("subscribed");
            received = read(socket, expected.length);
        }

        // then
        assertThat(Arrays.equals(received, expected)).isTrue();
        assertThat(regions.get()).isGreaterThan(10);
    }

    @Test
    void shouldLeaveOutAbortedTransactionsWhenBatchesComeFromFiles() throws Exception {
        start(false, Map.of());
        List<String> expected = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "p"))) {
            producer.initTransactions();
            for (int i = 0; i < 12; i++) {
                String value = i + "x".repeat(LARGE_BATCH_BYTES);
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("t", value.getBytes(UTF_8))).get(20, TimeUnit.SECONDS);
                if (i % 3 == 0) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                    expected.add(value);
                }
            }
        }
        try (RawWebSocket socket = open(0)) {
            subscribe(socket);
            socket.message();
            List<String> values = new ArrayList<>();
            while (values.size() < expected.size()) {
                values.addAll(GatewayWebSocketTest.valuesOf(socket.read().batches(), 0));
            }
            assertThat(values).isEqualTo(expected);
        }
        assertThat(regions.get()).isPositive();
    }

    @Test
    void shouldSendTheRestOfAMessageAndReportAGapWhenRetentionHasOvertakenTheReader() throws Exception {
        // given a reader that has stopped within a message
        start(false, Map.of("segment.bytes", "1MiB"));
        List<byte[]> batches = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            batches.addAll(append(i, batch(1, 500_000)));
        }
        try (RawWebSocket socket = open(SMALL_BUFFER_BYTES)) {
            subscribe(socket);
            socket.message();
            broker.await(socket::hasData);

            // when the segment that it reads is deleted, and the records that were fetched for it are dropped
            try (Admin admin = broker.admin()) {
                admin.deleteRecords(Map.of(new TopicPartition("t", 0), RecordsToDelete.beforeOffset(19)))
                        .all()
                        .get(20, TimeUnit.SECONDS);
            }
            broker.await(() -> logBytes() < 3_000_000);
            TimeUnit.MILLISECONDS.sleep(1_500);

            // then it gets whole messages until it hears of a gap
            int next = 0;
            RawWebSocket.Frame frame = socket.read();
            while (frame.opcode() == RawWebSocket.BINARY) {
                assertThat(Arrays.equals(frame.batches(), batches.get(next))).isTrue();
                next++;
                frame = socket.read();
            }
            assertThat(next).isPositive();
            assertThat(frame.text())
                    .isEqualTo("{\"type\":\"gap\",\"topic\":\"t\",\"partition\":0,\"from\":" + next + ",\"to\":19}");
            assertThat(Arrays.equals(socket.read().batches(), batches.get(19))).isTrue();
        }
    }

    /** Size of the segments of all partitions, also of those that are being deleted. */
    private long logBytes() {
        try (Stream<Path> files = Files.walk(directory.resolve("data"))) {
            return files.filter(file -> file.getFileName().toString().contains(".log"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException | UncheckedIOException changed) {
            return Long.MAX_VALUE;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHoldLittleMemoryWhenReadersOfLargeBatchesStopReading(boolean encrypted) throws Exception {
        // given
        start(encrypted, Map.of());
        List<byte[]> batches = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            batches.addAll(append(i, batch(1, 500_000)));
        }
        long beforeBytes = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
        int count = 10;
        List<RawWebSocket> readers = new ArrayList<>();
        try {
            // when
            for (int i = 0; i < count; i++) {
                RawWebSocket reader = open(SMALL_BUFFER_BYTES);
                readers.add(reader);
                subscribe(reader);
                reader.message();
            }
            long heldBytes = GatewayWebSocketTest.settledMemory(broker) - beforeBytes;

            // then a region holds no memory, and a chunk of it up to 384 KiB while it is encrypted
            assertThat(heldBytes / count).isLessThan(encrypted ? 450_000 : 16_000);
            assertThat(Arrays.equals(read(readers.get(0), 15_000_000), concat(batches)))
                    .isTrue();
        } finally {
            for (RawWebSocket reader : readers) {
                reader.close();
            }
        }
    }

    @Test
    void shouldServeTheNextRequestWhenABodyEndsWithinALargeBatch() throws Exception {
        // given requests that a client sends without waiting; the first ends within a batch
        start(false, Map.of());
        byte[] whole = batch(3, 100_000);
        byte[] other = batch(2, 200_000);
        byte[] cut = Arrays.copyOf(whole, whole.length - 50_000);

        // when
        try (Socket socket = gateway.connect()) {
            ByteArrayOutputStream requests = new ByteArrayOutputStream();
            requests.writeBytes(request(concat(List.of(whole, cut))));
            for (int i = 0; i < 5; i++) {
                requests.writeBytes(request(concat(List.of(other, whole, other))));
            }
            socket.getOutputStream().write(requests.toByteArray());

            // then
            assertThat(response(socket)).startsWith("HTTP/1.1 400 ").contains("ends in the middle");
            for (int i = 0; i < 5; i++) {
                assertThat(response(socket)).startsWith("HTTP/1.1 200 ");
            }
        }
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        expected.writeBytes(whole);
        for (int i = 0; i < 5; i++) {
            expected.writeBytes(concat(List.of(other, whole, other)));
        }
        try (RawWebSocket socket = open(0)) {
            subscribe(socket);
            socket.message();
            assertThat(Arrays.equals(
                            withoutPosition(read(socket, expected.size())), withoutPosition(expected.toByteArray())))
                    .isTrue();
        }
    }

    /** Batches without what the broker sets in them. */
    private static byte[] withoutPosition(byte[] batches) {
        ByteBuf bytes = Unpooled.wrappedBuffer(batches);
        for (int at = 0; at < batches.length; at += RecordBatch.sizeBytes(bytes, at)) {
            RecordBatch.setBaseOffset(bytes, at, 0);
            RecordBatch.setLeaderEpoch(bytes, at, 0);
        }
        return batches;
    }

    private static byte[] request(byte[] body) {
        byte[] head = ("POST /v1/topics/t/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + TYPE
                        + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                .getBytes(ISO_8859_1);
        return concat(List.of(head, body));
    }

    /** The head and the body of the next response. */
    private static String response(Socket socket) throws IOException {
        String head = GatewayClient.readHead(socket);
        String length = "content-length: ";
        int from = head.indexOf(length) + length.length();
        int bodyBytes = Integer.parseInt(head.substring(from, head.indexOf('\r', from)));
        return head + new String(socket.getInputStream().readNBytes(bodyBytes), UTF_8);
    }
}
