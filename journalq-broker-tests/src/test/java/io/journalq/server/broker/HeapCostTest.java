package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.server.memory.StatePart;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the heap that topics and connections use with what they are charged, in a broker in a separate process. Most
 * of this heap is outside of the objects that charge it, in journals and in Netty.
 */
@Tag("long")
class HeapCostTest {
    private static final int WARM_UP = 200;
    /** They take 4 MB, which is far more than anything else that changes meanwhile. */
    private static final int TOPICS = 2_000;

    private static final int CONNECTIONS = 2_000;
    /** Maximum ratio of charged to used bytes. At this ratio, a full part uses half of its bound. */
    private static final double MAX_OVERESTIMATE = 2;

    @TempDir
    private Path directory;

    private interface Growth {
        void grow() throws Exception;
    }

    private static void assertEstimate(FloodedBroker broker, String state, StatePart part, Growth growth)
            throws Exception {
        long chargedBefore = broker.chargedBytes(part);
        long liveBefore = broker.liveHeapBytes();
        growth.grow();
        long charged = broker.chargedBytes(part) - chargedBefore;
        long live = broker.liveHeapBytes() - liveBefore;
        assertThat(live).as("what %s take", state).isPositive();
        assertThat((double) charged / live)
                .as("%s: %d bytes charged for %d bytes", state, charged, live)
                .isBetween(1.0, MAX_OVERESTIMATE);
    }

    @Test
    void shouldEstimateTopics() throws Exception {
        try (FloodedBroker broker = FloodedBroker.start(directory, Map.of());
                WireClient client = new WireClient(broker.port())) {
            TopicCostRun.createTopics(client, "warm-up-", WARM_UP);
            assertEstimate(
                    broker, "topics", StatePart.METADATA, () -> TopicCostRun.createTopics(client, "topic-", TOPICS));
        }
    }

    @Test
    void shouldEstimatePartitions() throws Exception {
        try (FloodedBroker broker = FloodedBroker.start(directory, Map.of());
                WireClient client = new WireClient(broker.port())) {
            TopicCostRun.createTopics(client, "warm-up-", WARM_UP);
            assertEstimate(broker, "partitions", StatePart.METADATA, () -> createWideTopic(client));
        }
    }

    private static void createWideTopic(WireClient client) throws Exception {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(60_000)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName("wide")
                        .setNumPartitions(TOPICS)
                        .setReplicationFactor((short) 1)));
        CreateTopicsResponse response = client.call(CreateTopicsResponse.class, request, 7);
        assertThat(response.topics().get(0).errorCode()).isZero();
    }

    @Test
    void shouldEstimateConnections() throws Exception {
        List<WireClient> clients = new ArrayList<>();
        try (FloodedBroker broker = FloodedBroker.start(directory, Map.of())) {
            connect(broker, clients, WARM_UP);
            assertEstimate(broker, "connections", StatePart.CONNECTIONS, () -> connect(broker, clients, CONNECTIONS));
        } finally {
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    private static void connect(FloodedBroker broker, List<WireClient> clients, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            WireClient client = new WireClient(broker.port());
            clients.add(client);
            ApiVersionsRequest request = new ApiVersionsRequest()
                    .setClientSoftwareName("apache-kafka-java")
                    .setClientSoftwareVersion("4.3." + i);
            client.call(ApiVersionsResponse.class, request, 3);
        }
    }
}
