package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that behave as badly as the protocol allows. The broker's memory for them is bounded, and another client is
 * served. The assertions are on bounds, not on times.
 */
class HostileClientsTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);
    private static final int MANY = 200;
    private static final int BIG_BATCHES = 40;
    private static final int FETCH_BY_NAME = 12;
    private static final long MEBIBYTE = 1 << 20;

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("admin.listener", "127.0.0.1:0")
                .with("shards", "1")
                .with("total.in.flight.max.bytes", "32MiB")
                .with("connection.in.flight.max.bytes", "1MiB")
                .start();
        broker.createTopic("t", 1, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldTakeMemoryForWhatArrivedWhenClientsAnnounceMuchAndSendLittle() throws Exception {
        double before = directBytes();
        List<WireClient> clients = new ArrayList<>();
        try {
            // when many clients announce a large request, and send one byte of it
            for (int i = 0; i < MANY; i++) {
                WireClient client = new WireClient(broker.port());
                clients.add(client);
                client.out.writeInt(900_000);
                client.out.write(0);
            }
            assertServed();

            // then they do not determine how much memory is reserved
            assertThat(directBytes() - before).isLessThan(100 * MEBIBYTE);
            assertThat(value("journalq_network_connections")).isGreaterThanOrEqualTo(MANY);
        } finally {
            closeAll(clients);
        }
    }

    @Test
    void shouldServeOthersWhenClientsSendAByteAtATime() throws Exception {
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        List<WireClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < MANY; i++) {
                clients.add(new WireClient(broker.port()));
            }
            for (int at = 0; at < frame.length; at++) {
                for (WireClient client : clients.subList(0, 20)) {
                    client.out.write(frame, at, 1);
                }
            }
            // they get their responses, slow or not
            for (WireClient client : clients.subList(0, 20)) {
                assertThat(client.receiveFrame()).isNotEmpty();
            }
            assertServed();
        } finally {
            closeAll(clients);
        }
    }

    @Test
    void shouldGiveOthersTheirTurnWhenAClientSendsVeryManyRequestsAtOnce() throws Exception {
        // given more than a share of an iteration
        int requests = 500;
        byte[] frame = WireClient.frame(1, new MetadataRequest().setTopics(List.of()), 8);
        byte[] all = new byte[requests * frame.length];
        for (int i = 0; i < requests; i++) {
            System.arraycopy(frame, 0, all, i * frame.length, frame.length);
        }
        try (WireClient client = new WireClient(broker.port())) {
            // when
            client.out.write(all);

            // then it has to wait for its turns, and gets its response
            for (int i = 0; i < requests; i++) {
                assertThat(client.receiveFrame()).isNotEmpty();
            }
        }
        assertThat(value("journalq_network_read_yields_total")).isGreaterThan(0);
        assertServed();
    }

    @Test
    void shouldKeepNothingOfConnectionsThatOpenAndClose() throws Exception {
        for (int i = 0; i < 5 * MANY; i++) {
            new WireClient(broker.port()).close();
        }
        assertServed();

        broker.await(() -> quietly("journalq_network_connections") <= 1);
    }

    @Test
    void shouldRefuseEachDecompressionBombAndServeOthers() throws Exception {
        for (CompressionCodec codec : List.of(CompressionCodec.GZIP, CompressionCodec.LZ4, CompressionCodec.ZSTD)) {
            double before = directBytes();
            try (WireClient client = new WireClient(broker.port())) {
                for (int i = 0; i < 5; i++) {
                    assertThat(client.produce("t", 0, bomb(codec)).errorCode())
                            .isEqualTo(ErrorCode.MESSAGE_TOO_LARGE.code());
                }
            }
            assertThat(directBytes() - before).isLessThan(300 * MEBIBYTE);
            assertServed();
        }
    }

    @Test
    void shouldCloseTheConnectionWhenARequestIsMadeOfVeryManyTinyElements() throws Exception {
        // given a request of 10 MB that would decode to 5,000,000 objects
        byte[] head = WireClient.frame(1, new MetadataRequest().setTopics(List.of()), 8);
        int topics = 5_000_000;
        try (WireClient client = new WireClient(broker.port())) {
            byte[] frame = new byte[head.length + 2 * topics];
            System.arraycopy(head, 0, frame, 0, head.length);
            java.nio.ByteBuffer.wrap(frame)
                    .putInt(0, frame.length - Integer.BYTES)
                    .putInt(head.length - Integer.BYTES - 3, topics);
            try {
                client.out.write(frame);
                assertThat(client.in.read()).isEqualTo(-1);
            } catch (SocketException closed) {
                assertThat(closed).isNotNull();
            }
        }
        assertServed();
        assertThat(value("journalq_limits_reached_total{limit=\"request.max.entries\"}"))
                .isEqualTo(1);
    }

    @Test
    void shouldServeOthersWhenClientsNeverReadTheirResponses() throws Exception {
        // given 20 MiB of records that may not be in the page cache, like all records after a restart
        try (WireClient client = new WireClient(broker.port())) {
            byte[] value = new byte[512 << 10];
            new Random(1).nextBytes(value);
            for (int i = 0; i < BIG_BATCHES; i++) {
                assertThat(client.produce("t", 0, WireClient.batch(1, value)).errorCode())
                        .isZero();
            }
        }
        broker.stop();
        broker.start();
        double before = directBytes();
        List<WireClient> clients = new ArrayList<>();
        try {
            // when 50 clients each request them 20 times, and read nothing
            for (int i = 0; i < 50; i++) {
                WireClient client = new WireClient(broker.port());
                clients.add(client);
                for (int request = 0; request < 20; request++) {
                    client.send(fetchOfAll(), FETCH_BY_NAME);
                }
            }
            assertServed();

            // then the pending responses stay in the files, and other clients can read the records too
            assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), BIG_BATCHES + 1))
                    .hasSize(BIG_BATCHES + 1);
            assertThat(directBytes() - before).isLessThan(50 * MEBIBYTE);
        } finally {
            closeAll(clients);
        }
    }

    @Test
    void shouldLeaveAClientUnreadWhenItReadsNoneOfTheRecordsItAsksFor() throws Exception {
        // given records that are sent from their file
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("t", 0, WireClient.batch(1, new byte[900 << 10]))
                            .errorCode())
                    .isZero();
        }
        byte[] frame = WireClient.frame(1, fetchOfAll(), FETCH_BY_NAME);
        int requests = 2_000;
        byte[] all = new byte[requests * frame.length];
        for (int i = 0; i < requests; i++) {
            System.arraycopy(frame, 0, all, i * frame.length, frame.length);
        }
        try (WireClient client = new WireClient(broker.port())) {
            // when a client requests them without end
            Thread sender = new Thread(() -> {
                try {
                    client.out.write(all);
                } catch (IOException closed) {
                    assertThat(closed).isNotNull();
                }
            });
            sender.setDaemon(true);
            sender.start();

            // then its socket is no longer read after some responses
            broker.await(() -> quietly("journalq_network_read_suspensions_total") > 0);
            assertThat(value("journalq_fetched_bytes_total")).isLessThan(250.0 * MEBIBYTE);
            assertServed();
        }
    }

    private static FetchRequest fetchOfAll() {
        FetchRequest.FetchPartition partition =
                new FetchRequest.FetchPartition().setPartition(0).setPartitionMaxBytes(16 << 20);
        FetchRequest.FetchTopic topic =
                new FetchRequest.FetchTopic().setTopic("t").setPartitions(List.of(partition));
        return new FetchRequest().setMaxBytes(16 << 20).setSessionEpoch(-1).setTopics(List.of(topic));
    }

    private static ByteBuf bomb(CompressionCodec codec) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, new byte[40 << 20], List.of());
            return builder.build();
        }
    }

    private void assertServed() throws IOException {
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isZero();
        }
    }

    private static void closeAll(List<WireClient> clients) throws IOException {
        for (WireClient client : clients) {
            client.close();
        }
    }

    private double directBytes() throws Exception {
        return value("journalq_buffers_direct_bytes");
    }

    private double quietly(String metric) {
        try {
            return value(metric);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** The sum of a metric over all its other labels. */
    private double value(String metric) throws Exception {
        return broker.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(metric + " ") || line.startsWith(metric + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
