package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Invalid input on the wire gets the protocol's error or closes the connection, and does not affect other clients. */
class BadInputTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("socket.request.max.bytes", "2000000")
                .start();
        broker.createTopic("t", 2, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldRespondWithTheErrorOfThatPartitionAloneWhenABatchIsCorrupt() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            // given a batch with one byte that does not match its CRC
            ByteBuf corrupt = WireClient.batch(3, VALUE);
            corrupt.setByte(corrupt.writerIndex() - 2, 'X');
            // when it arrives in one request with a valid one
            ProduceRequest request = WireClient.produceRequest("t", 0, corrupt);
            ProduceRequest good = WireClient.produceRequest("t", 1, WireClient.batch(3, VALUE));
            request.topicData()
                    .get(0)
                    .setPartitionData(List.of(
                            request.topicData().get(0).partitionData().get(0),
                            good.topicData().get(0).partitionData().get(0)));
            ProduceResponse response = client.call(ProduceResponse.class, request, 12);
            // then only the corrupt batch is refused, and the connection stays open
            List<ProduceResponse.PartitionProduceResponse> responses =
                    response.responses().get(0).partitionResponses();
            assertThat(responses.get(0).errorCode()).isEqualTo(ErrorCode.CORRUPT_MESSAGE.code());
            assertThat(responses.get(0).baseOffset()).isEqualTo(-1);
            assertThat(responses.get(1).errorCode()).isEqualTo(ErrorCode.NONE.code());
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).baseOffset())
                    .isZero();
        }
    }

    @Test
    void shouldNameWhatIsWrongWhenAProduceRequestCannotBeServed() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("../x", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
            assertThat(client.produce("t", 2, WireClient.batch(1, VALUE)).errorCode())
                    .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
            assertThat(client.produce("t", -1, WireClient.batch(1, VALUE)).errorCode())
                    .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
            assertThat(client.produce("t", 0, WireClient.batch(1, new byte[1_100_000]))
                            .errorCode())
                    .isEqualTo(ErrorCode.MESSAGE_TOO_LARGE.code());
            ByteBuf oldMagic = WireClient.batch(1, VALUE);
            oldMagic.setByte(RecordBatch.MAGIC, 1);
            assertThat(client.produce("t", 0, oldMagic).errorCode()).isEqualTo(ErrorCode.INVALID_RECORD.code());
            ProduceRequest acks = WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE))
                    .setAcks((short) 2);
            assertThat(client.call(ProduceResponse.class, acks, 12)
                            .responses()
                            .get(0)
                            .partitionResponses()
                            .get(0)
                            .errorCode())
                    .isEqualTo(ErrorCode.INVALID_REQUIRED_ACKS.code());
            ByteBuf ofNoTransaction = WireClient.transactionalBatch(1, VALUE, 5, (short) 0, 0);
            assertThat(client.produce("t", 0, ofNoTransaction).errorCode())
                    .isEqualTo(ErrorCode.INVALID_TXN_STATE.code());
            // and an unknown topic id
            ProduceRequest byId = WireClient.produceRequest("", 0, WireClient.batch(1, VALUE));
            byId.topicData().get(0).setTopicId(new io.journalq.common.id.Uuid(1, 2));
            assertThat(client.call(ProduceResponse.class, byId, 13)
                            .responses()
                            .get(0)
                            .partitionResponses()
                            .get(0)
                            .errorCode())
                    .isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID.code());
        }
    }

    @Test
    void shouldCloseTheConnectionWhenAProduceWithoutAcknowledgementFails() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.send(
                    WireClient.produceRequest("nothing", 0, WireClient.batch(1, VALUE))
                            .setAcks((short) 0),
                    12);
            assertThat(client.in.read()).isEqualTo(-1);
        }
    }

    @Test
    void shouldRespondInVersionZeroWhenTheVersionOfApiVersionsIsUnknown() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            byte[] frame = WireClient.frame(
                    9, new ApiVersionsRequest().setClientSoftwareName("x").setClientSoftwareVersion("1"), 4);
            frame[7] = 99;
            client.out.write(frame);
            ApiVersionsResponse response = client.receive(ApiVersionsResponse.class, ApiKey.API_VERSIONS, 0, 9);
            assertThat(response.errorCode()).isEqualTo(ErrorCode.UNSUPPORTED_VERSION.code());
            assertThat(response.apiKeys()).singleElement().satisfies(range -> {
                assertThat(range.apiKey()).isEqualTo(ApiKey.API_VERSIONS.id());
                assertThat(range.maxVersion()).isEqualTo((short) 4);
            });
            // and the client can continue with a version that it knows now
            response = client.call(
                    ApiVersionsResponse.class,
                    new ApiVersionsRequest().setClientSoftwareName("x").setClientSoftwareVersion("1"),
                    3);
            assertThat(response.errorCode()).isZero();
            assertThat(response.apiKeys()).anySatisfy(range -> {
                assertThat(range.apiKey()).isEqualTo(ApiKey.PRODUCE.id());
                assertThat(range.minVersion()).isZero();
                assertThat(range.maxVersion()).isEqualTo((short) 13);
            });
            assertThat(client.call(
                                    ApiVersionsResponse.class,
                                    new ApiVersionsRequest()
                                            .setClientSoftwareName("-")
                                            .setClientSoftwareVersion("1"),
                                    3)
                            .errorCode())
                    .isEqualTo(ErrorCode.INVALID_REQUEST.code());
        }
    }

    @Test
    void shouldCloseTheConnectionWhenAnApiOrVersionIsNotServed() throws Exception {
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 3);
        for (int[] change : new int[][] {{5, 7}, {5, 127}, {4, 0x7f}, {4, 0xff}, {7, 2}, {7, 14}, {6, 0xff}}) {
            byte[] changed = frame.clone();
            changed[change[0]] = (byte) change[1];
            assertEnds(changed);
        }
        assertOthersAreServed();
    }

    @Test
    void shouldCloseTheConnectionWhenAFrameIsCutShortInside() throws Exception {
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        for (int size = 4; size < frame.length; size += 7) {
            byte[] cut = Arrays.copyOf(frame, size);
            java.nio.ByteBuffer.wrap(cut).putInt(size - 4);
            assertEnds(cut);
        }
        assertOthersAreServed();
    }

    @Test
    void shouldServeOthersWhenAClientLeavesInMidFrame() throws Exception {
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        for (int size = 1; size < frame.length; size += 11) {
            try (WireClient client = new WireClient(broker.port())) {
                client.out.write(frame, 0, size);
            }
        }
        assertOthersAreServed();
    }

    @Test
    void shouldNeverFailOtherwiseThanByClosingWhenBytesAreRandom() throws Exception {
        Random random = new Random(4);
        byte[] produce = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(2, VALUE)), 9);
        byte[] fetch = WireClient.frame(
                1,
                new FetchRequest()
                        .setMaxWaitMs(1)
                        .setMaxBytes(1_000)
                        .setTopics(List.of(new FetchRequest.FetchTopic()
                                .setTopic("t")
                                .setPartitions(List.of(new FetchRequest.FetchPartition()
                                        .setPartition(0)
                                        .setPartitionMaxBytes(1_000))))),
                12);
        for (int i = 0; i < 300; i++) {
            byte[] frame = (random.nextBoolean() ? produce : fetch).clone();
            for (int change = 0; change < 1 + random.nextInt(4); change++) {
                frame[8 + random.nextInt(frame.length - 8)] = (byte) random.nextInt(256);
            }
            try (WireClient client = new WireClient(broker.port())) {
                client.socket.setSoTimeout(20);
                client.out.write(frame);
                client.in.read();
            } catch (IOException respondedOrClosed) {
                // a response and a closed connection are both correct; the broker must continue
                assertThat(respondedOrClosed).isNotNull();
            }
        }
        assertOthersAreServed();
    }

    @Test
    void shouldRefuseNewConnectionsOfOtherProtocols() throws Exception {
        for (String hello : List.of("GET / HTTP/1.1\r\n\r\n", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000")) {
            try (WireClient client = new WireClient(broker.port())) {
                client.out.write(hello.getBytes(UTF_8));
                assertThat(readByte(client)).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldSayInOneLineWhyItCannotStart() throws Exception {
        // given a second broker on the same directory
        assertThatThrownBy(() -> new TestBroker(dataDirectory).start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining("in use by another broker");
        // and one on the same port
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int exitCode = BrokerMain.run(
                List.of(
                        "--set",
                        "listeners=PLAINTEXT://127.0.0.1:" + broker.port(),
                        "--set",
                        "admin.listener=",
                        "--set",
                        "gateway.listener=",
                        "--set",
                        "data.directories=" + dataDirectory.resolve("other")),
                Map.of(),
                new PrintStream(errors, true, UTF_8));
        assertThat(exitCode).isEqualTo(1);
        assertThat(errors.toString(UTF_8).strip().lines())
                .singleElement()
                .asString()
                .contains("cannot listen on 127.0.0.1:" + broker.port());
        // and one with a setting that does not exist
        errors.reset();
        exitCode = BrokerMain.run(List.of("--set", "listener=x"), Map.of(), new PrintStream(errors, true, UTF_8));
        assertThat(exitCode).isEqualTo(1);
        assertThat(errors.toString(UTF_8)).contains("did you mean 'listeners'");
        assertThat(BrokerMain.run(List.of("--port"), Map.of(), new PrintStream(errors, true, UTF_8)))
                .isEqualTo(2);
        // and the first broker still serves
        assertOthersAreServed();
    }

    @Test
    void shouldRefuseAppendsAndGoOnReadingWhileTheDiskIsFull() throws Exception {
        // given a broker whose disk is full after its first records
        FullDisk disk = new FullDisk();
        try (TestBroker full = new TestBroker(dataDirectory.resolve("full")).start(disk.store())) {
            full.createTopic("t", 1, Map.of());
            try (WireClient client = new WireClient(full.port())) {
                assertThat(client.produce("t", 0, WireClient.batch(3, VALUE, 5, (short) 0, 0))
                                .baseOffset())
                        .isZero();
                disk.full = true;
                // when a producer continues
                ProduceResponse.PartitionProduceResponse refused =
                        client.produce("t", 0, WireClient.batch(2, VALUE, 5, (short) 0, 3));
                // then it gets an error, and the earlier records can be read, but nothing of the refused batch
                assertThat(refused.errorCode()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
                assertThat(refused.baseOffset()).isEqualTo(-1);
                FetchResponse.PartitionData read = fetch(client, "t");
                assertThat(read.highWatermark()).isEqualTo(3);
                assertThat(read.records().sizeBytes()).isPositive();
                // and when there is space again, and the partly written batch is removed, the same batch is accepted at
                // its offset
                disk.full = false;
                ProduceResponse.PartitionProduceResponse accepted = refused;
                for (int i = 0; i < 3_000 && accepted.errorCode() != 0; i++) {
                    accepted = client.produce("t", 0, WireClient.batch(2, VALUE, 5, (short) 0, 3));
                    Thread.sleep(accepted.errorCode() == 0 ? 0 : 10);
                }
                assertThat(accepted.errorCode()).isZero();
                assertThat(accepted.baseOffset()).isEqualTo(3);
                assertThat(client.produce("t", 0, WireClient.batch(2, VALUE, 5, (short) 0, 3))
                                .baseOffset())
                        .isEqualTo(3);
            }
        }
    }

    @Test
    void shouldNotAcknowledgeWhatTheDiskDidNotTakeWhenTheTopicIsConsistent() throws Exception {
        FullDisk disk = new FullDisk();
        try (TestBroker failing = new TestBroker(dataDirectory.resolve("failing")).start(disk.store())) {
            failing.createTopic("t", 1, Map.of("delivery.mode", "consistent"));
            try (WireClient client = new WireClient(failing.port())) {
                assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                        .isZero();
                disk.syncFails = true;
                assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                        .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
                assertThat(fetch(client, "t").highWatermark()).isEqualTo(1);
                disk.syncFails = false;
            }
        }
    }

    private static FetchResponse.PartitionData fetch(WireClient client, String topic) throws IOException {
        FetchRequest request = new FetchRequest()
                .setMaxBytes(1_000_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic(topic)
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(0)
                                .setPartitionMaxBytes(1_000_000)))));
        return client.call(FetchResponse.class, request, 12)
                .responses()
                .get(0)
                .partitions()
                .get(0);
    }

    private void assertEnds(byte[] frame) throws IOException {
        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(frame);
            assertThat(readByte(client)).isEqualTo(-1);
        }
    }

    /** The next byte; -1 when the connection was closed or reset. */
    private static int readByte(WireClient client) throws IOException {
        try {
            return client.in.read();
        } catch (EOFException | SocketException reset) {
            return -1;
        }
    }

    private void assertOthersAreServed() throws IOException {
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("t", 1, WireClient.batch(1, VALUE)).errorCode())
                    .isZero();
        }
    }
}
