package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Responses name the new leader of a partition, in the versions of KIP-951. */
class LeaderHintsTest {
    private static final Uuid ORDERS = new Uuid(1, 1);
    private static final int NODE = 1;
    private static final int OTHER = 2;
    private static final String LISTENER = "PLAINTEXT";

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(NODE, 1, 100, 250));
    private final LeaderHints hints = new LeaderHints(new ClusterBrokers(NODE, machine::image));

    /** Partition 0 is led by the other broker since its second epoch, and partition 1 by nobody. */
    @BeforeEach
    void createTopic() {
        TestBrokers.register(machine, NODE, OTHER, 3);
        machine.replay(machine.createTopic(
                        new TopicSpec("orders", -1, -1, List.of(List.of(3, OTHER), List.of(3, NODE)), Map.of()), ORDERS)
                .records());
        machine.replay(machine.cluster().fence(List.of(3)).records());
        machine.replay(machine.cluster().fence(List.of(NODE)).records());
        assertThat(machine.image().topic(ORDERS).partitions().get(0).leader()).isEqualTo(OTHER);
        assertThat(machine.image().topic(ORDERS).partitions().get(1).hasLeader())
                .isFalse();
    }

    private static RequestContext context(int version, String listener) {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "apiVersion" -> (short) version;
                    case "listenerName" -> listener;
                    case "localAddress" -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static ProduceResponse produced(ErrorCode first, ErrorCode second) {
        return new ProduceResponse()
                .setResponses(List.of(new ProduceResponse.TopicProduceResponse()
                        .setName("orders")
                        .setPartitionResponses(List.of(
                                new ProduceResponse.PartitionProduceResponse()
                                        .setIndex(0)
                                        .setErrorCode(first.code()),
                                new ProduceResponse.PartitionProduceResponse()
                                        .setIndex(1)
                                        .setErrorCode(second.code())))));
    }

    private static FetchResponse fetched() {
        return new FetchResponse()
                .setResponses(List.of(new FetchResponse.FetchableTopicResponse()
                        .setTopicId(ORDERS)
                        .setPartitions(List.of(new FetchResponse.PartitionData()
                                .setPartitionIndex(0)
                                .setErrorCode(ErrorCode.FENCED_LEADER_EPOCH.code())))));
    }

    @Test
    void shouldNameTheLeaderAndItsAddressWhenAnotherBrokerLeads() {
        ProduceResponse response = produced(ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_LEADER_OR_FOLLOWER);

        hints.addTo(context(10, LISTENER), response);

        List<ProduceResponse.PartitionProduceResponse> partitions =
                response.responses().get(0).partitionResponses();
        assertThat(partitions.get(0).currentLeader().leaderId()).isEqualTo(OTHER);
        assertThat(partitions.get(0).currentLeader().leaderEpoch())
                .isEqualTo(machine.image().topic(ORDERS).partitions().get(0).leaderEpoch());
        assertThat(partitions.get(1).currentLeader().leaderId()).isEqualTo(-1);
        assertThat(response.nodeEndpoints())
                .singleElement()
                .satisfies(node -> assertThat(node.nodeId()).isEqualTo(OTHER))
                .satisfies(node -> assertThat(node.host()).isEqualTo("broker-2"));
    }

    @Test
    void shouldNameNobodyWhenTheErrorIsAnotherOneOrTheVersionIsOlder() {
        ProduceResponse other = produced(ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS);
        hints.addTo(context(10, LISTENER), other);
        assertThat(other.responses().get(0).partitionResponses())
                .allSatisfy(partition ->
                        assertThat(partition.currentLeader().leaderId()).isEqualTo(-1));
        assertThat(other.nodeEndpoints()).isEmpty();

        ProduceResponse older = produced(ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE);
        hints.addTo(context(9, LISTENER), older);
        assertThat(older.responses()
                        .get(0)
                        .partitionResponses()
                        .get(0)
                        .currentLeader()
                        .leaderId())
                .isEqualTo(-1);
    }

    @Test
    void shouldNameAddressesInFetchResponsesFromVersion16On() {
        for (int version : List.of(11, 12, 15, 16)) {
            FetchResponse response = fetched();

            hints.addTo(context(version, LISTENER), response);

            assertThat(response.responses()
                            .get(0)
                            .partitions()
                            .get(0)
                            .currentLeader()
                            .leaderId())
                    .isEqualTo(version < 12 ? -1 : OTHER);
            assertThat(response.nodeEndpoints()).hasSize(version < 16 ? 0 : 1);
        }
    }

    @Test
    void shouldNameNoAddressWhenTheLeaderDoesNotHaveTheListenerOfTheClient() {
        FetchResponse response = fetched();

        hints.addTo(context(16, "INTERNAL"), response);

        assertThat(response.responses()
                        .get(0)
                        .partitions()
                        .get(0)
                        .currentLeader()
                        .leaderId())
                .isEqualTo(OTHER);
        assertThat(response.nodeEndpoints()).isEmpty();
    }
}
