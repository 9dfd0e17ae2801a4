package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopic;
import io.journalq.common.protocol.message.DescribeConfigsRequest.DescribeConfigsResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker whose metadata contain another broker, which does not run. */
class OtherBrokersTest {
    private static final Path GOLDEN = GoldenData.DIRECTORY.resolve("brokers-1-metadata");
    private static final int HERE = 1;
    private static final int OTHER = 2;
    private static final byte BROKER = 4;

    @TempDir
    private Path directory;

    private TestBroker broker;
    private WireClient client;

    @BeforeEach
    void start() throws Exception {
        Path metadata = Files.createDirectories(directory.resolve("metadata"));
        try (Stream<Path> all = Files.list(GOLDEN)) {
            for (Path file : all.toList()) {
                Files.copy(file, metadata.resolve(file.getFileName()));
            }
        }
        broker = new TestBroker(directory)
                .with("node.id", Integer.toString(HERE))
                .with("broker.rack", "cellar")
                .with("offsets.topic.num.partitions", "2")
                .start();
        client = new WireClient(broker.port());
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        broker.close();
    }

    @Test
    void shouldDescribeAllBrokers() throws Exception {
        MetadataResponse metadata = client.call(MetadataResponse.class, new MetadataRequest().setTopics(List.of()), 12);
        DescribeClusterResponse cluster = client.call(DescribeClusterResponse.class, new DescribeClusterRequest(), 1);

        assertThat(metadata.controllerId()).isEqualTo(HERE);
        assertThat(metadata.brokers())
                .extracting(one -> one.nodeId() + " " + one.host() + ":" + one.port() + " " + one.rack())
                .containsExactly("1 127.0.0.1:" + broker.port() + " cellar", "2 broker-2:9092 attic");
        assertThat(cluster.controllerId()).isEqualTo(HERE);
        assertThat(cluster.brokers())
                .extracting(one -> one.brokerId() + " " + one.host() + ":" + one.port() + " " + one.rack())
                .containsExactly("1 127.0.0.1:" + broker.port() + " cellar", "2 broker-2:9092 attic");
    }

    @Test
    void shouldPlaceReplicasOnAllBrokers() throws Exception {
        assertThat(create("two", 2).errorCode()).isEqualTo(ErrorCode.NONE.code());

        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("two")))
                .setAllowAutoTopicCreation(false);
        assertThat(client.call(MetadataResponse.class, request, 12)
                        .topics()
                        .get(0)
                        .partitions())
                .hasSize(2)
                .allSatisfy(partition -> assertThat(partition.replicaNodes()).containsExactlyInAnyOrder(HERE, OTHER))
                .extracting(MetadataResponse.MetadataResponsePartition::leaderId)
                .containsExactlyInAnyOrder(HERE, OTHER);
        CreateTopicsResponse.CreatableTopicResult three = create("three", 3);
        assertThat(three.errorCode()).isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR.code());
        assertThat(three.errorMessage()).contains("only 2 broker(s) are registered");
    }

    private CreateTopicsResponse.CreatableTopicResult create(String name, int replicationFactor) throws IOException {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(10_000)
                .setTopics(List.of(
                        new CreatableTopic().setName(name).setNumPartitions(2).setReplicationFactor((short)
                                replicationFactor)));
        return client.call(CreateTopicsResponse.class, request, 7).topics().get(0);
    }

    @Test
    void shouldFindTheCoordinatorWhereItsPartitionIsLed() throws Exception {
        // Until partitions are replicated, internal topics have one replica, on either broker.
        for (int group = 0; group < 8; group++) {
            FindCoordinatorResponse found = client.call(
                    FindCoordinatorResponse.class, new FindCoordinatorRequest().setKey("group-" + group), 2);
            assertThat(found.errorCode()).isEqualTo(ErrorCode.NONE.code());
            assertThat(found.nodeId() + " " + found.host())
                    .isEqualTo(leaderOf("group-" + group) == HERE ? "1 127.0.0.1" : "2 broker-2");
        }
    }

    private int leaderOf(String group) throws IOException {
        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("__consumer_offsets")));
        List<MetadataResponse.MetadataResponsePartition> partitions =
                client.call(MetadataResponse.class, request, 12).topics().get(0).partitions();
        return partitions
                .get((group.hashCode() & Integer.MAX_VALUE) % partitions.size())
                .leaderId();
    }

    @Test
    void shouldKnowTheSettingsOfThisBrokerOnly() throws Exception {
        assertThat(describe(HERE)).isEqualTo(ErrorCode.NONE.code());
        assertThat(describe(OTHER)).isEqualTo(ErrorCode.INVALID_REQUEST.code());
        assertThat(describe(7)).isEqualTo(ErrorCode.INVALID_REQUEST.code());
        ListConfigResourcesResponse listed = client.call(
                ListConfigResourcesResponse.class,
                new ListConfigResourcesRequest().setResourceTypes(List.of(BROKER)),
                1);
        assertThat(listed.configResources())
                .extracting(ListConfigResourcesResponse.ConfigResource::resourceName)
                .containsExactly("1", "2");
    }

    private short describe(int node) throws IOException {
        DescribeConfigsRequest request = new DescribeConfigsRequest()
                .setResources(List.of(
                        new DescribeConfigsResource().setResourceType(BROKER).setResourceName(Integer.toString(node))));
        return client.call(DescribeConfigsResponse.class, request, 4)
                .results()
                .get(0)
                .errorCode();
    }
}
