package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.server.loop.Limit;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each limit is reached: the client gets the response that docs/guides/operations.md describes, it is counted, and
 * other clients are served.
 */
class LimitsTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);
    private static final int MAX_REQUEST_BYTES = 100_000;
    private static final int MAX_ENTRIES = 1_000;
    private static final int MAX_QUEUED = 10;

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("admin.listener", "127.0.0.1:0")
                .with("shards", "1")
                .with("socket.request.max.bytes", String.valueOf(MAX_REQUEST_BYTES))
                .with("request.max.entries", String.valueOf(MAX_ENTRIES))
                .with("connection.queued.max.requests", String.valueOf(MAX_QUEUED))
                .with("fetch.sessions.max.partitions", "2")
                .with("group.max.count", "1")
                .with("offset.metadata.max.bytes", "10")
                .with("offsets.topic.num.partitions", "1")
                .with("max.message.bytes", "10000")
                .with("max.decompressed.bytes", "20000")
                .with("max.message.headers", "3")
                .start();
        broker.createTopic("t", 2, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldCloseTheConnectionWhenARequestIsTooLarge() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.out.writeInt(MAX_REQUEST_BYTES + 1);

            assertThat(readByte(client)).isEqualTo(-1);
        }
        assertCounted(Limit.REQUEST_BYTES);
    }

    @Test
    void shouldCloseTheConnectionWhenARequestNamesTooMuch() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.send(
                    new MetadataRequest()
                            .setTopics(Collections.nCopies(
                                    MAX_ENTRIES + 1, new MetadataRequest.MetadataRequestTopic().setName("t"))),
                    8);

            assertThat(readByte(client)).isEqualTo(-1);
        }
        assertCounted(Limit.REQUEST_ENTRIES);
    }

    @Test
    void shouldRefuseABatchWhenItIsTooLarge() throws Exception {
        assertRefused(WireClient.batch(1, new byte[10_001]), ErrorCode.MESSAGE_TOO_LARGE, Limit.BATCH_BYTES);
    }

    @Test
    void shouldRefuseABatchWhenItIsTooLargeOnceItIsDecompressed() throws Exception {
        for (CompressionCodec codec : CompressionCodec.values()) {
            if (codec != CompressionCodec.NONE) {
                assertRefused(
                        batch(codec, new byte[100_000], List.of()),
                        ErrorCode.MESSAGE_TOO_LARGE,
                        Limit.DECOMPRESSED_BYTES);
            }
        }
    }

    @Test
    void shouldRefuseABatchWhenAMessageHasTooManyHeaders() throws Exception {
        List<Header> headers = Collections.nCopies(4, new Header("h", VALUE));

        assertRefused(batch(CompressionCodec.NONE, VALUE, headers), ErrorCode.INVALID_RECORD, Limit.MESSAGE_HEADERS);
    }

    @Test
    void shouldServeWithoutASessionWhenSessionsRememberTooMuch() throws Exception {
        try (WireClient first = new WireClient(broker.port());
                WireClient second = new WireClient(broker.port())) {
            // given a session that uses the whole limit
            FetchResponse remembered = first.call(FetchResponse.class, fetch(0, 0, 0, 1), 12);
            assertThat(remembered.sessionId()).isPositive();

            // when another one is requested
            FetchResponse full = second.call(FetchResponse.class, fetch(0, 0, 0), 12);

            // then the response has the records, but no session
            assertThat(full.sessionId()).isZero();
            assertThat(full.responses()).hasSize(1);
            assertCounted(Limit.FETCH_SESSION_PARTITIONS);

            // and after the first one has ended, there is room
            assertThat(first.call(FetchResponse.class, fetch(remembered.sessionId(), -1, 0), 12)
                            .sessionId())
                    .isZero();
            FetchResponse later = second.call(FetchResponse.class, fetch(0, 0, 0), 12);
            assertThat(later.sessionId()).isPositive();
            // which an unchanged request does not use up
            assertThat(second.call(FetchResponse.class, fetch(later.sessionId(), 1, 0), 12)
                            .errorCode())
                    .isZero();
            // but a request that adds too much loses its session
            assertThat(second.call(FetchResponse.class, fetch(later.sessionId(), 2, 1, 2, 3), 12)
                            .errorCode())
                    .isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code());
        }
    }

    @Test
    void shouldKeepASessionWhenItUsesTheWholeLimitAndNamesItsPartitionsAgain() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            int session =
                    client.call(FetchResponse.class, fetch(0, 0, 0, 1), 12).sessionId();
            assertThat(session).isPositive();

            FetchResponse next = client.call(FetchResponse.class, fetch(session, 1, 0, 1), 12);

            assertThat(ErrorCode.of(next.errorCode())).isEqualTo(ErrorCode.NONE);
            assertThat(next.sessionId()).isEqualTo(session);
        }
    }

    @Test
    void shouldRefuseAGroupWhenThereAreAsManyAsThereMayBe() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            // given one group, because it has committed an offset
            awaitCoordinator(client);
            JoinGroupResponse response = client.call(
                    JoinGroupResponse.class,
                    new JoinGroupRequest()
                            .setGroupId("second")
                            .setSessionTimeoutMs(10_000)
                            .setRebalanceTimeoutMs(10_000)
                            .setProtocolType("consumer")
                            .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                    .setName("range")
                                    .setMetadata(Unpooled.wrappedBuffer(VALUE)))),
                    3);

            assertThat(response.errorCode()).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED.code());
            assertCounted(Limit.GROUPS);
        }
    }

    @Test
    void shouldRefuseAMemberWhenItSaysTooMuchOfItself() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            awaitCoordinator(client);

            assertThat(join(client, "first", "i".repeat(1_025))).isEqualTo(ErrorCode.INVALID_REQUEST);
            assertCounted(Limit.GROUP_MEMBER);
            assertThat(join(client, "g".repeat(1_025), null)).isEqualTo(ErrorCode.INVALID_GROUP_ID);
        }
    }

    private static ErrorCode join(WireClient client, String group, String instanceId) throws Exception {
        JoinGroupResponse response = client.call(
                JoinGroupResponse.class,
                new JoinGroupRequest()
                        .setGroupId(group)
                        .setGroupInstanceId(instanceId)
                        .setSessionTimeoutMs(10_000)
                        .setRebalanceTimeoutMs(10_000)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("r")
                                .setMetadata(Unpooled.wrappedBuffer(VALUE)))),
                5);
        return ErrorCode.of(response.errorCode());
    }

    @Test
    void shouldRefuseACommitWhenItsTextIsTooLong() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            awaitCoordinator(client);

            assertThat(commit(client, "first", "x".repeat(11))).isEqualTo(ErrorCode.OFFSET_METADATA_TOO_LARGE);
            assertCounted(Limit.OFFSET_METADATA);
        }
    }

    @Test
    void shouldLeaveASocketUnreadWhenTooManyRequestsAwaitAResponse() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            // given a fetch that waits, before more requests than may be in flight
            client.send(fetch(0, -1, 0).setMaxWaitMs(1_000).setMinBytes(1), 12);
            int last = 0;
            for (int i = 0; i < 3 * MAX_QUEUED; i++) {
                last = client.send(fetch(0, -1, 0), 12);
            }
            // then all get their responses, in order
            for (int id = 1; id <= last; id++) {
                client.receive(FetchResponse.class, ApiKey.FETCH, 12, id);
            }
        }
        assertCounted(Limit.CONNECTION_REQUESTS);
    }

    private void assertRefused(ByteBuf batch, ErrorCode error, Limit limit) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("t", 0, batch).errorCode()).isEqualTo(error.code());
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isZero();
        }
        assertCounted(limit);
    }

    private void assertCounted(Limit limit) throws Exception {
        assertThat(broker.page("/metrics").body())
                .containsPattern("journalq_limits_reached_total\\{limit=\"" + limit.label() + "\"\\} [1-9]");
        try (WireClient other = new WireClient(broker.port())) {
            assertThat(other.produce("t", 1, WireClient.batch(1, VALUE)).errorCode())
                    .isZero();
        }
    }

    private static void awaitCoordinator(WireClient client) throws IOException {
        FindCoordinatorResponse found;
        do {
            found = client.call(
                    FindCoordinatorResponse.class,
                    new FindCoordinatorRequest().setCoordinatorKeys(List.of("first")),
                    4);
        } while (found.coordinators().get(0).errorCode() != 0);
        // It may still be loading.
        while (commit(client, "first", "") == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS) {
            Thread.onSpinWait();
        }
    }

    private static ErrorCode commit(WireClient client, String group, String text) throws IOException {
        OffsetCommitResponse response = client.call(
                OffsetCommitResponse.class,
                new OffsetCommitRequest()
                        .setGroupId(group)
                        .setGenerationIdOrMemberEpoch(-1)
                        .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                                .setName("t")
                                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setCommittedMetadata(text))))),
                8);
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    private static FetchRequest fetch(int sessionId, int sessionEpoch, int... partitions) {
        List<FetchRequest.FetchPartition> wanted = new ArrayList<>();
        for (int partition : partitions) {
            wanted.add(new FetchRequest.FetchPartition().setPartition(partition).setPartitionMaxBytes(1_000));
        }
        return new FetchRequest()
                .setMaxWaitMs(0)
                .setMaxBytes(1_000)
                .setSessionId(sessionId)
                .setSessionEpoch(sessionEpoch)
                .setTopics(List.of(new FetchRequest.FetchTopic().setTopic("t").setPartitions(wanted)));
    }

    private static ByteBuf batch(CompressionCodec codec, byte[] value, List<Header> headers) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, value, headers);
            return builder.build();
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
}
