package io.journalq.server.api.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClientSession;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.security.Authorizer;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Fetches of clients of the gateway whose partitions are led by this broker and by one that was killed. */
class RoutedFetchTest {
    private static final int SELF = 1;
    private static final int KILLED = 2;
    private static final int FETCH_VERSION = 12;
    private static final int WAIT_MS = 15_000;
    private static final String TOPIC = "orders";

    private final SteppedLoop loop = new SteppedLoop();
    private final LoopCycle cycle = LoopCycle.cycles(List.of(loop)).get(0);
    private final List<ApiMessage> responses = new ArrayList<>();
    private ByteBuf found = Unpooled.EMPTY_BUFFER;

    /** Finds the same in each partition. */
    private final class Fetches implements Handler<FetchRequest> {
        @Override
        public ServedApi api() {
            return new ServedApi(ApiKey.FETCH, 4, 18, AccessRule.asks(Right.READ_TOPIC));
        }

        @Override
        public void handle(RequestContext context, FetchRequest request) {
            List<FetchResponse.PartitionData> partitions = new ArrayList<>();
            for (FetchRequest.FetchPartition each : request.topics().get(0).partitions()) {
                partitions.add(new FetchResponse.PartitionData()
                        .setPartitionIndex(each.partition())
                        .setRecords(RecordsData.of(found.retainedDuplicate())));
            }
            context.respond(new FetchResponse()
                    .setResponses(List.of(new FetchResponse.FetchableTopicResponse()
                            .setTopic(TOPIC)
                            .setPartitions(partitions))));
        }
    }

    /** A connection that cannot be opened. */
    private final class Refused implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            loop.execute(() -> listener.onFailure(new IOException("connection refused")));
        }

        @Override
        public boolean isOpen() {
            return false;
        }

        @Override
        public void close() {
            throw new AssertionError("it is closed");
        }
    }

    private static MetadataImage image() {
        MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(SELF, 1, 10, 10_000));
        TestBrokers.register(machine, SELF, KILLED);
        return machine.replay(machine.createTopic(
                                new TopicSpec(TOPIC, -1, -1, List.of(List.of(SELF), List.of(KILLED)), Map.of()),
                                new Uuid(1, 1))
                        .records())
                .now();
    }

    private void fetch(int waitMs, int... partitions) {
        MetadataImage image = image();
        HandlerRegistry handlers = new HandlerRegistry(Authorizer.OFF);
        handlers.register(new Fetches());
        PeerRequests peers = new PeerRequests(cycle, broker -> new Refused());
        RoutedCalls calls = new RoutedCalls(SELF, () -> image, handlers, new RoutedCalls.Peers(peers, peers, peers));
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);
        ClientSession session = new ClientSession(
                Principal.ANONYMOUS,
                new ClientThrottles(() -> ClientQuotas.NONE, System::nanoTime),
                MemoryAccount.UNBOUNDED,
                pause -> {});
        LocalCall.Client client = new LocalCall.Client(session, cycle, "http", address, address, "GATEWAY", true);
        List<FetchRequest.FetchPartition> asked = new ArrayList<>();
        for (int partition : partitions) {
            asked.add(new FetchRequest.FetchPartition().setPartition(partition));
        }
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(waitMs)
                .setMinBytes(1)
                .setMaxBytes(1_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic().setTopic(TOPIC).setPartitions(asked)));
        calls.call(client, ApiKey.FETCH, FETCH_VERSION, request, 0, responses::add);
        loop.run();
    }

    private List<FetchResponse.PartitionData> partitions() {
        assertThat(responses).hasSize(1);
        return ((FetchResponse) responses.get(0))
                .responses().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .toList();
    }

    @Test
    void shouldSayThatTheLeaderIsAwayWhenItCannotBeAsked() {
        fetch(0, 1);

        assertThat(partitions()).singleElement().satisfies(partition -> {
            assertThat(partition.errorCode()).isEqualTo(ErrorCode.LEADER_NOT_AVAILABLE.code());
            assertThat(partition.records().sizeBytes()).isZero();
        });
    }

    @Test
    void shouldReadThePartitionsOfThisBrokerWhileTheLeaderOfOthersIsAway() {
        found = Unpooled.wrappedBuffer(new byte[] {1, 2, 3});

        fetch(WAIT_MS, 0, 1);

        assertThat(partitions()).singleElement().satisfies(partition -> {
            assertThat(partition.partitionIndex()).isZero();
            assertThat(partition.records().sizeBytes()).isEqualTo(3);
            partition.records().release();
        });
        assertThat(found.refCnt()).isEqualTo(1);
    }

    @Test
    void shouldWaitForTheNextLeaderWhenThereAreNoRecords() {
        fetch(WAIT_MS, 0, 1);
        loop.fireTimers();
        assertThat(responses).isEmpty();
        assertThat(loop.timerCount()).isEqualTo(1);

        loop.advance(WAIT_MS);
        loop.fireTimers();

        assertThat(partitions()).hasSize(2);
    }
}
