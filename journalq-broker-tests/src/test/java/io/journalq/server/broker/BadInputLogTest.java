package io.journalq.server.broker;

import static io.journalq.server.broker.InputTrace.REFUSED;
import static io.journalq.server.broker.InputTrace.error;
import static io.journalq.server.broker.InputTrace.limit;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each invalid input leaves one line in the log, which names the client and the fault, and is counted once. */
class BadInputLogTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);
    private static final int MAX_ENTRIES = 1_000;

    @TempDir
    private Path directory;

    private final FullDisk disk = new FullDisk();
    private TestBroker broker;
    private InputTrace trace;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("socket.request.max.bytes", "2000000")
                .with("request.max.entries", String.valueOf(MAX_ENTRIES))
                .with("admin.listener", "127.0.0.1:0")
                .start(disk.store());
        broker.createTopic(
                "t",
                1,
                Map.of("max.message.headers", "2", "max.message.bytes", "10000", "max.decompressed.bytes", "20000"));
        broker.createTopic("compacted", 1, Map.of("cleanup.policy", "compact"));
        broker.createTopic("synced", 1, Map.of("delivery.mode", "consistent"));
        trace = new InputTrace(broker);
    }

    @AfterEach
    void stop() {
        trace.close();
        disk.full = false;
        disk.syncFails = false;
        broker.close();
    }

    @Test
    void shouldLeaveOneLineForEachWrongInput() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            ByteBuf corrupt = WireClient.batch(3, VALUE);
            corrupt.setByte(corrupt.writerIndex() - 2, 'X');
            assertThat(client.produce("t", 0, corrupt).errorCode()).isEqualTo(ErrorCode.CORRUPT_MESSAGE.code());
            trace.assertOneLine("request refused", "topic t: CORRUPT_MESSAGE");

            ByteBuf large = WireClient.batch(1, new byte[1_100_000]);
            assertThat(client.produce("t", 0, large).errorCode()).isEqualTo(ErrorCode.MESSAGE_TOO_LARGE.code());
            trace.assertOneLine("request refused", "topic t: MESSAGE_TOO_LARGE", "max.message.bytes");

            assertThat(createTopic(client, "../x\n[main] ERROR")).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
            trace.assertOneLine("request refused", "topic ../x?[main] ERROR: INVALID_TOPIC_EXCEPTION");

            disk.full = true;
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
            trace.assertOneLine("cannot write", "No space left on device");
            disk.full = false;
        }
        assertOneLineWhenSent(new byte[] {0x7f, 0, 0, 0}, "connection closed", "the limit is 2000000");
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        byte[] unknownApi = frame.clone();
        unknownApi[5] = 127;
        assertOneLineWhenSent(unknownApi, "connection closed", "not served");

        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(frame, 0, frame.length / 2);
        }
        trace.assertOneLine("connection lost", "within a request");
        // and the broker writes again, once the partly written batch is removed from the full disk
        try (WireClient client = new WireClient(broker.port())) {
            short error = ErrorCode.KAFKA_STORAGE_ERROR.code();
            for (int i = 0; i < 3_000 && error != 0; i++) {
                Thread.sleep(i == 0 ? 0 : 10);
                error = client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode();
            }
            assertThat(error).isZero();
        }
        assertThat(trace.lines()).isEmpty();
    }

    @Test
    void shouldLeaveOneLineAndCountOnceWhenAFrameIsWrong() throws Exception {
        ByteBuffer shortFrame = ByteBuffer.allocate(8).putInt(4).putInt(7);
        ByteBuffer nameCutShort = ByteBuffer.allocate(14)
                .putInt(10)
                .putShort(ApiKey.METADATA.id())
                .putShort((short) 1)
                .putInt(1)
                .putShort((short) 5);
        ByteBuffer hugeCount = ByteBuffer.allocate(18)
                .putInt(14)
                .putShort(ApiKey.METADATA.id())
                .putShort((short) 1)
                .putInt(1)
                .putShort((short) -1)
                .putInt(Integer.MAX_VALUE);
        byte[] produce = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        byte[] unknownVersion = produce.clone();
        unknownVersion[7] = 99;
        byte[] bodyCutShort = Arrays.copyOf(produce, produce.length - 20);
        ByteBuffer.wrap(bodyCutShort).putInt(bodyCutShort.length - Integer.BYTES);
        byte[] tooManyEntries = WireClient.frame(
                1,
                new MetadataRequest()
                        .setTopics(Collections.nCopies(
                                MAX_ENTRIES + 1, new MetadataRequest.MetadataRequestTopic().setName("t"))),
                8);
        String size = limit("socket.request.max.bytes");

        assertOneLineWhenSent(new byte[] {-1, -1, -1, -1}, Set.of(REFUSED, size), "a frame of -1 bytes");
        assertOneLineWhenSent(
                new byte[] {22, 3, 1, 2, 0, 1}, Set.of(REFUSED, size), "TLS handshake; this listener is not encrypted");
        assertOneLineWhenSent(shortFrame.array(), Set.of(REFUSED), "shorter than any request");
        assertOneLineWhenSent(nameCutShort.array(), Set.of(REFUSED), "the client id is incomplete");
        assertOneLineWhenSent(hugeCount.array(), Set.of(REFUSED), "array");
        assertOneLineWhenSent(unknownVersion, Set.of(REFUSED), "Produce version 99");
        assertOneLineWhenSent(bodyCutShort, Set.of(REFUSED), "bytes");
        assertOneLineWhenSent(
                tooManyEntries, Set.of(REFUSED, limit("request.max.entries")), "Metadata", "(request.max.entries)");
    }

    @Test
    void shouldLeaveOneLineAndCountOnceWhenTheHeaderOfABatchIsWrong() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            assertRefused(client, Unpooled.EMPTY_BUFFER, ErrorCode.INVALID_RECORD, "must contain exactly one batch");
            ByteBuf cut = WireClient.batch(1, VALUE);
            assertRefused(client, cut.readSlice(cut.readableBytes() - 1), ErrorCode.CORRUPT_MESSAGE, "truncated");
            ByteBuf oldMagic = WireClient.batch(1, VALUE).setByte(RecordBatch.MAGIC, 1);
            assertRefused(client, oldMagic, ErrorCode.INVALID_RECORD, "magic 0 and 1");
            ByteBuf unknownMagic = WireClient.batch(1, VALUE).setByte(RecordBatch.MAGIC, 9);
            assertRefused(client, unknownMagic, ErrorCode.CORRUPT_MESSAGE, "unknown magic");
            ByteBuf control = WireClient.batch(1, VALUE).setShort(RecordBatch.ATTRIBUTES, RecordBatch.CONTROL_FLAG);
            assertRefused(client, sealed(control), ErrorCode.INVALID_RECORD, "control batches");
            ByteBuf unknownCodec = WireClient.batch(1, VALUE).setShort(RecordBatch.ATTRIBUTES, 7);
            assertRefused(client, sealed(unknownCodec), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "unknown compression");
            ByteBuf appendTime =
                    WireClient.batch(1, VALUE).setShort(RecordBatch.ATTRIBUTES, RecordBatch.LOG_APPEND_TIME_FLAG);
            assertRefused(client, sealed(appendTime), ErrorCode.INVALID_TIMESTAMP, "log append time");
            ByteBuf count = WireClient.batch(1, VALUE).setInt(RecordBatch.RECORD_COUNT, Integer.MAX_VALUE);
            assertRefused(client, sealed(count), ErrorCode.INVALID_RECORD, "record count and the offsets");
        }
    }

    @Test
    void shouldLeaveOneLineAndCountOnceWhenTheRecordsOfABatchAreWrong() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            ByteBuf garbage = WireClient.batch(1, VALUE).setShort(RecordBatch.ATTRIBUTES, CompressionCodec.LZ4.id());
            assertRefused(client, sealed(garbage), ErrorCode.INVALID_RECORD, "topic t");
            ByteBuf noRecords = WireClient.batch(2, VALUE)
                    .setInt(RecordBatch.RECORD_COUNT, 3)
                    .setInt(RecordBatch.LAST_OFFSET_DELTA, 2);
            assertRefused(client, sealed(noRecords), ErrorCode.INVALID_RECORD, "topic t");
            assertRefused(
                    client,
                    batch(CompressionCodec.ZSTD, new byte[100_000], 0),
                    ErrorCode.MESSAGE_TOO_LARGE,
                    Set.of(limit("max.decompressed.bytes")),
                    "max.decompressed.bytes");
            assertRefused(
                    client,
                    batch(CompressionCodec.NONE, VALUE, 3),
                    ErrorCode.INVALID_RECORD,
                    Set.of(limit("max.message.headers")),
                    "max.message.headers");
            client.produce("compacted", 0, WireClient.batch(1, VALUE));
            trace.assertOneResult(client, Set.of(error(ErrorCode.INVALID_RECORD)), "topic compacted: INVALID_RECORD");
            client.call(
                    ProduceResponse.class,
                    WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE))
                            .setAcks((short) 2),
                    WireClient.ApiKeyVersions.PRODUCE);
            trace.assertOneResult(
                    client, Set.of(error(ErrorCode.INVALID_REQUIRED_ACKS)), "topic t: INVALID_REQUIRED_ACKS");

            // and one without a response
            ByteBuf corrupt = WireClient.batch(3, VALUE);
            corrupt.setByte(corrupt.writerIndex() - 2, 'X');
            client.send(
                    WireClient.produceRequest("t", 0, corrupt).setAcks((short) 0), WireClient.ApiKeyVersions.PRODUCE);
            assertThat(client.in.read()).isEqualTo(-1);
            trace.assertOneResult(
                    client,
                    Set.of(REFUSED, error(ErrorCode.CORRUPT_MESSAGE)),
                    "connection closed",
                    "produce without acknowledgement failed");
        }
    }

    @Test
    void shouldLeaveFewLinesAndCountAllWhenWrongInputComesWithoutEnd() throws Exception {
        // given
        int wrong = 200;
        ByteBuf corrupt = WireClient.batch(3, VALUE);
        corrupt.setByte(corrupt.writerIndex() - 2, 'X');

        // when
        long beganNanos = System.nanoTime();
        try (WireClient client = new WireClient(broker.port())) {
            for (int i = 0; i < wrong; i++) {
                client.produce("t", 0, corrupt.retainedDuplicate());
            }
        } finally {
            corrupt.release();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNanos);

        // then
        assertThat(trace.counted().get(error(ErrorCode.CORRUPT_MESSAGE))).isEqualTo(wrong);
        assertThat(trace.lines()).isNotEmpty().hasSizeLessThanOrEqualTo((int) Math.min(wrong, 10 * (seconds + 2)));
    }

    @Test
    void shouldCountEveryAppendAndLeaveALineForTheFirstWhenTheDiskIsFull() throws Exception {
        disk.full = true;
        assertRefusedByDisk("t", "cannot write: partition=t-0 reason=\"No space left on device\"");
    }

    @Test
    void shouldCountEveryAppendAndLeaveLinesForTheFirstWhenTheDiskDoesNotSync() throws Exception {
        disk.syncFails = true;
        assertRefusedByDisk(
                "synced",
                "the journal accepts no more writes",
                "cannot flush: partition=synced-0 reason=\"Input/output error\"");
    }

    private void assertRefusedByDisk(String topic, String... lines) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.produce(topic, 0, WireClient.batch(1, VALUE)).errorCode())
                        .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
            }
        }
        broker.await(() -> trace.lines().size() >= lines.length);
        assertThat(trace.lines()).hasSize(lines.length);
        for (int i = 0; i < lines.length; i++) {
            assertThat(trace.lines().get(i)).contains(lines[i]);
        }
        assertThat(trace.grown())
                .containsOnly(Map.entry(error(ErrorCode.KAFKA_STORAGE_ERROR), 3.0), Map.entry(InputTrace.BY_DISK, 3.0));
    }

    private static ByteBuf sealed(ByteBuf batch) {
        RecordBatch.setCrc(
                batch,
                0,
                Crc32c.compute(batch, RecordBatch.ATTRIBUTES, batch.readableBytes() - RecordBatch.ATTRIBUTES));
        return batch;
    }

    private static ByteBuf batch(CompressionCodec codec, byte[] value, int headerCount) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            List<Header> headers = Collections.nCopies(headerCount, new Header("h", VALUE));
            builder.append(System.currentTimeMillis(), (byte[]) null, value, headers);
            return builder.build();
        }
    }

    private void assertRefused(WireClient client, ByteBuf batch, ErrorCode error, String reason) throws Exception {
        assertRefused(client, batch, error, Set.of(), reason);
    }

    private void assertRefused(WireClient client, ByteBuf batch, ErrorCode error, Set<String> limits, String reason)
            throws Exception {
        assertThat(client.produce("t", 0, batch).errorCode()).as(reason).isEqualTo(error.code());
        Set<String> counters = new HashSet<>(limits);
        counters.add(error(error));
        trace.assertOneResult(client, counters, "request refused", "topic t: " + error, reason);
    }

    private void assertOneLineWhenSent(byte[] bytes, Set<String> counters, String... words) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(bytes);
            assertThat(readByte(client)).isEqualTo(-1);
            trace.assertOneResult(client, counters, words);
        }
    }

    /** The next byte; -1 when the connection was closed or reset. */
    private static int readByte(WireClient client) throws IOException {
        try {
            return client.in.read();
        } catch (SocketException reset) {
            return -1;
        }
    }

    private static short createTopic(WireClient client, String name) throws IOException {
        CreateTopicsRequest.CreatableTopic topic = new CreateTopicsRequest.CreatableTopic()
                .setName(name)
                .setNumPartitions(1)
                .setReplicationFactor((short) 1);
        CreateTopicsRequest request =
                new CreateTopicsRequest().setTimeoutMs(30_000).setTopics(List.of(topic));
        return client.call(CreateTopicsResponse.class, request, 5)
                .topics()
                .get(0)
                .errorCode();
    }

    private void assertOneLineWhenSent(byte[] bytes, String... words) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(bytes);
            assertThat(client.in.read()).isEqualTo(-1);
        }
        trace.assertOneLine(words);
    }
}
